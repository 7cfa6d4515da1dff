"""What a library says of a mistake, said as one of ours: the same class everywhere, with the operation and the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import ArrayflowError, OperationError, ShapeError
from ..transfers import user_site
from .operands import facts

if TYPE_CHECKING:
    from .primitive import Primitive

__all__ = ["refuse"]

# What libraries raise for arguments that do not fit; PyTorch has RuntimeError for all of it.
_MISTAKES = (ValueError, TypeError, IndexError, RuntimeError, OverflowError)
# Errors of these libraries' own classes are no mistakes of the caller's: no memory, a tracer, a device that is gone.
_OWN = ("jax", "torch", "cupy")
# Operations of several operands that are not taken element by element.
_AS_A_WHOLE = frozenset({"isin", "linear", "matmul", "searchsorted", "tensordot", "vecdot"})


class _OutOfRangeError(OperationError, IndexError):
    """A position or an axis that is not there."""


def refuse(primitive: Primitive, arguments: Sequence[Any], error: Exception) -> NoReturn:
    """Raise what a library raised as an error of ours, or as it is where it is about no mistake of the caller's."""
    if (
        not isinstance(error, _MISTAKES)
        or isinstance(error, (ArrayflowError, RecursionError, NotImplementedError))
        or type(error).__module__.startswith(_OWN)
        or "memory" in str(error)
    ):
        raise error
    raise _explained(primitive, arguments, error) from error


def _explained(primitive: Primitive, arguments: Sequence[Any], error: Exception) -> ArrayflowError:
    shown, shapes = [], []
    for k, x in enumerate(arguments):
        name = primitive.operands[k] if k < len(primitive.operands) else f"argument {k}"
        found = facts(x)
        if found is not None:
            shown.append(f"{name} of shape {found[1]}, {found[2]}")
            shapes.append(found[1])
        elif x is not None:
            long = isinstance(x, int) and x.bit_length() > 128
            shown.append(f"{name} = {f'an integer of {x.bit_length()} bits' if long else repr(x)}")
    operands = "; ".join(shown)
    by_element = len(primitive.promote) > 1 and primitive.name not in _AS_A_WHOLE and primitive.rules
    if by_element and not _broadcast(shapes):
        return ShapeError(
            f"{primitive.name}: lengths must be equal, or 1, axis by axis from the last one on, but there are "
            f"{operands} (at {user_site()}). Put axes of length 1 in: af.expand_dims(x, axis=...)."
        )
    cls = _OutOfRangeError if isinstance(error, IndexError) else OperationError
    return cls(f"{primitive.name}: {error} ({operands}; at {user_site()}).")


def _broadcast(shapes: Sequence[Any]) -> bool:
    longest = max(map(len, shapes), default=0)
    columns = zip(*((1,) * (longest - len(s)) + tuple(s) for s in shapes), strict=True)
    return all(len(set(column) - {1}) <= 1 for column in columns)
