"""Docstrings in numpydoc for functions that are made, not written: a table of parameters and an example."""

from __future__ import annotations

__all__ = ["ANY_AXIS", "AXIS", "DTYPE", "KEEPDIMS", "X", "numpydoc"]

X = "x : array or Variable\n    The input."
AXIS = "axis : int, optional\n    The axis; negative ones count from the last. Needed where `x` has more than one."
ANY_AXIS = "axis : int or tuple of int, optional\n    Along which; negative ones count from the last. None means all."
KEEPDIMS = "keepdims : bool\n    Whether reduced axes stay, with length 1."
DTYPE = (
    "dtype : data type, optional\n    To compute in and to return. By default that of `x`, but integers narrower than "
    "the\n    default integer are widened to it, and booleans count as integers."
)


def numpydoc(
    summary: str, *parameters: str, returns: str, example: str, raises: str = "", notes: str = "", setup: str = ""
) -> str:
    """Put a docstring together.

    Parameters
    ----------
    summary : str
        What it does; the first line and what follows it.
    *parameters : str
        Entries ``"name : type\\n    What it is."``.
    returns, raises, notes : str
        The sections of that name.
    example : str
        Lines of an interpreter session after ``import arrayflow as af``.
    setup : str
        A line before the first one of the example.
    """
    sections = [summary.strip()]
    if parameters:
        sections.append("Parameters\n----------\n" + "\n".join(parameters))
    sections.append("Returns\n-------\n" + returns)
    if raises:
        sections.append("Raises\n------\n" + raises)
    if notes:
        sections.append("Notes\n-----\n" + notes)
    lines = [line.strip() for line in example.strip().splitlines()]
    session = "\n".join([">>> import arrayflow as af", *([setup] if setup else []), *lines])
    sections.append("Examples\n--------\n" + session)
    return "\n\n".join(sections) + "\n"
