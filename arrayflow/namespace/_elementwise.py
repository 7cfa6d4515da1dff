"""What the chapters of elementwise functions share: their docstrings, complex conjugates, and where slopes are cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import primitive
from ..autograd.primitive import Rule
from ..autograd.variable import Variable
from ..backends import registry
from ._docs import numpydoc
from .searching import where

__all__ = ["binary", "conj", "conjugate", "unary", "where"]

_TAKES = {
    "numeric": "numeric",
    "real": "real",
    "floating": "floating\n    Integers become ``af.config.dtype``.",
    "real floating": "real floating\n    Integers become ``af.config.dtype``.",
    "integer": "integer or bool",
    "bool": "bool",
    "any": "any data type",
}


def _shown(values: str, dtype: str) -> str:
    return f"Variable({values}, dtype={dtype}, device='cpu')"


def unary(
    name: str, rule: Rule, summary: str, takes: str, example: str, printed: str, dtype: str = "float32", notes: str = ""
) -> Callable[..., Any]:
    """A function of one array, with its docstring made from a formula and an example."""
    dtypes = "bool" if dtype == "bool" and takes != "integer" else "dtype of `x`"
    if name in ("abs", "real"):
        dtypes += ", or of its parts where that is complex"
    doc = numpydoc(
        summary,
        f"x : array or Variable, {_TAKES[takes]}",
        returns=f"array or Variable, shape of `x`, {dtypes}",
        notes=notes,
        example=f'>>> af.{name}(af.asarray({example}, device="cpu"))\n{_shown(printed, dtype)}',
    )
    return primitive(name, rule, floating=takes.endswith("floating"), doc=doc)


def binary(
    name: str, rule1: Rule, rule2: Rule, summary: str, takes: str, example: tuple[str, str], printed: str,
    dtype: str = "float32", notes: str = "",
) -> Callable[..., Any]:  # fmt: skip
    """A function of two arrays, with its docstring made from a formula and an example."""
    dtypes = "bool" if dtype == "bool" else "their common dtype"
    x1, x2 = (f'af.asarray({text}, device="cpu")' if "[" in text else text for text in example)
    doc = numpydoc(
        summary,
        f"x1, x2 : array, Variable or Python scalar, {_TAKES[takes]}\n    Their shapes must fit together; "
        "a scalar takes the other's dtype.",
        returns=f"array or Variable, broadcast shape of `x1` and `x2`, {dtypes}",
        raises="DeviceMismatchError\n    If they live on different devices.",
        notes=notes,
        example=f">>> af.{name}({x1}, {x2})\n{_shown(printed, dtype)}",
    )
    return primitive(name, rule1, rule2, floating=takes.endswith("floating"), doc=doc)


# By class of array: its library's complex data types.
_complex: dict[type, set[Any]] = {}


@registry.on_load
def _learn(backend: Any) -> None:
    found = {raw for dtype, raw in backend.raw_dtypes.items() if dtype.kind == "complex floating"}
    for cls in backend.array_types:
        _complex[cls] = found


def is_complex(raw: Any) -> bool:
    """Whether a raw array, or a Python scalar, is complex."""
    found = _complex.get(raw.__class__)
    if found is not None:
        return raw.dtype in found
    backend = registry.backend_of(raw)
    return isinstance(raw, complex) if backend is None else backend.dtype_of_raw[raw.dtype].kind == "complex floating"


conj: Callable[..., Any] = unary(
    "conj", lambda g: conjugate(g), "Complex conjugate; `x` itself where it is real.", "numeric",
    "[1 + 2j]", "[1.-2.j]", "complex64",
)  # fmt: skip


def conjugate(x: Any) -> Any:
    """What a rule multiplies with: `x`, or its conjugate where it is complex.

    The gradient of a real loss by complex ``z`` is taken as ``dL/dRe(z) + i dL/dIm(z)``, so that it is a direction of
    steepest ascent, as in PyTorch; a holomorphic ``f`` then passes on ``g * conj(f'(z))``.
    """
    raw = x.array if isinstance(x, Variable) else x
    if not is_complex(raw):
        return x
    return raw.conjugate() if raw.__class__ is complex else conj(x)
