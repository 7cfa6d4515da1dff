"""The operators and methods of `Variable`, put on here because they are the namespace's functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..autograd.dispatch import _binary
from ..autograd.operands import SCALARS
from ..autograd.variable import Variable
from ..backends import registry
from ..config import backprop_enabled
from ..device import to_host
from ..errors import DTypeError, GraphError, ShapeError
from ..transfers import user_site
from . import elementwise, manipulation, statistical
from ._text import variable_text
from .data_types import astype
from .indexing import get_item, set_item
from .linear_algebra import matmul, matrix_transpose
from .utility import any as any_

__all__ = ["Variable"]

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def _is_operand(x: Any) -> bool:
    return isinstance(x, (Variable, *SCALARS)) or registry.backend_of(x) is not None


# --- arithmetic and comparisons -------------------------------------------------------------------


def _forward(function: Callable[..., Any]) -> Callable[..., Any]:
    """``x1 + x2``: the function itself, but for what is no operand, which Python asks next."""
    made = function.primitive  # type: ignore[attr-defined]

    def careful(arguments: tuple[Any, Any], statics: dict[str, Any]) -> Any:
        return made.apply(arguments, statics) if _is_operand(arguments[1]) else NotImplemented

    return _binary(made, careful)


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Variable, other: Any, /) -> Any:
        return function(other, self) if _is_operand(other) else NotImplemented

    return method


def _in_place(function: Callable[..., Any], symbol: str) -> Callable[..., Any]:
    def method(self: Variable, other: Any, /) -> Any:
        if not _is_operand(other):
            return NotImplemented
        _check_writable(self, symbol)
        return _rebind(self, function(self, other), symbol)

    return method


def _check_writable(x: Variable, what: str) -> None:
    if x._node is True and backprop_enabled.get():
        path = getattr(x, "path", "")
        raise GraphError(
            f"{what}: {f'parameter {path!r}' if path else 'this leaf'} requires a gradient, so it cannot be changed "
            f"in place while "
            f"operations are recorded (at {user_site()}). Change it under af.no_grad(), or make a new one: x = x + 1."
        )


def _rebind(x: Variable, out: Variable, what: str) -> Variable:
    """Let `x` be `out` from now on. What a graph saved of `x` stays as it was: arrays are replaced, not written to."""
    if out.shape != x.shape:
        raise ShapeError(
            f"{what}: the shape {x.shape} cannot change in place, but the result's is {out.shape} (at {user_site()}). "
            f"Use x = x + y."
        )
    if out.dtype != x.dtype:
        raise DTypeError(
            f"{what}: the dtype {x.dtype!s} cannot change in place, but the result's is {out.dtype!s} (at "
            f"{user_site()}). Use x = x + y, or "
            f"cast the other first: af.astype(y, af.{x.dtype!s})."
        )
    if backprop_enabled.get():
        if out._node is not None and type(x) is not Variable:
            raise GraphError(
                f"{what}: parameter {getattr(x, 'path', '')!r} cannot become a result of something that requires a "
                f"gradient "
                f"(at {user_site()}). Write y.detach(), or make a new Variable."
            )
        x._node = out._node
    x.array = out.array
    return x


_ARITHMETIC = {
    "add": ("+", elementwise.add),
    "sub": ("-", elementwise.subtract),
    "mul": ("*", elementwise.multiply),
    "truediv": ("/", elementwise.divide),
    "floordiv": ("//", elementwise.floor_divide),
    "mod": ("%", elementwise.remainder),
    "pow": ("**", elementwise.pow),
    "and": ("&", elementwise.bitwise_and),
    "or": ("|", elementwise.bitwise_or),
    "xor": ("^", elementwise.bitwise_xor),
    "lshift": ("<<", elementwise.bitwise_left_shift),
    "rshift": (">>", elementwise.bitwise_right_shift),
}
_COMPARISONS = {
    "eq": elementwise.equal,
    "ne": elementwise.not_equal,
    "lt": elementwise.less,
    "le": elementwise.less_equal,
    "gt": elementwise.greater,
    "ge": elementwise.greater_equal,
}
_UNARY = {
    "neg": elementwise.negative,
    "pos": elementwise.positive,
    "abs": elementwise.abs,
    "invert": elementwise.bitwise_invert,
}


def _matmul(self: Variable, other: Any, /) -> Any:
    return matmul(self, other) if _is_operand(other) else NotImplemented


# --- reading and writing elements -----------------------------------------------------------------


def _set_item(self: Variable, key: Any, value: Any, /) -> None:
    _check_writable(self, "x[key] = value")
    _rebind(self, set_item(self, key, value), "x[key] = value")


def _length(self: Variable) -> int:
    shape = self.array.shape
    if not len(shape):
        raise TypeError("len: a 0-d Variable has no length. Its value: x.item().")
    return int(shape[0])


def _iterate(self: Variable) -> Iterator[Variable]:
    if not len(self.shape):
        raise TypeError("iteration over a 0-d Variable. Its value: x.item().")
    return (self[i] for i in range(self.shape[0]))


def _contains(self: Variable, value: Any) -> bool:
    found: Variable = any_(elementwise.equal(self, value))
    return bool(found._scalar("implicit", "in"))


# --- Python numbers: reads that the user did not ask for by name -------------------------------------


def _float(self: Variable) -> float:
    return float(self._scalar("implicit", "float()"))


def _int(self: Variable) -> int:
    return int(self._scalar("implicit", "int()"))


def _bool(self: Variable) -> bool:
    return bool(self._scalar("implicit", "bool()"))


def _complex(self: Variable) -> complex:
    return complex(self._scalar("implicit", "complex()"))


def _index(self: Variable) -> int:
    if self.ndim or self.dtype.kind not in ("signed integer", "unsigned integer"):
        raise TypeError(
            f"__index__: only a 0-d integer Variable is an index, but this one is {self.dtype!s} of shape "
            f"{self.shape} (at {user_site()})."
        )
    return int(self._scalar("implicit", "__index__()"))


def _format(self: Variable, spec: str) -> str:
    return format(self._scalar("implicit", "format()"), spec) if spec else variable_text(self)


# --- other libraries --------------------------------------------------------------------------------


def _to_numpy(self: Variable, dtype: Any = None, copy: bool | None = None) -> Any:
    """For ``numpy.asarray``: memory that this Variable holds is read-only to others."""
    raw = self.array
    if copy is False and not (self.device.is_host and (dtype is None or raw.dtype == dtype)):
        raise ValueError(
            f"__array__: copy=False, but it takes a copy of {self.dtype!s} on {self.device} (at {user_site()}). Drop "
            f"copy=False."
        )
    host = to_host(raw, kind="implicit", entry="__array__()")
    if dtype is not None and host.dtype != dtype:
        return host.astype(dtype)
    if host is not raw:
        return host
    # An optimizer writes into a Parameter's memory.
    if copy or (copy is None and type(self) is not Variable):
        return host.copy()
    view = host.view()
    view.flags.writeable = False
    return view


def _dlpack(
    self: Variable,
    /,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[Any, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The array's own exchange; to the host it is an implicit read where the array is elsewhere."""
    raw = self.array
    asked = {"stream": stream, "max_version": max_version, "copy": copy}
    if dl_device is not None and tuple(map(int, dl_device)) != tuple(map(int, raw.__dlpack_device__())):
        if int(dl_device[0]) != 1:
            raise BufferError(
                f"__dlpack__: a Variable on {self.device} cannot be exported to DLPack device "
                f"{tuple(map(int, dl_device))} (at {user_site()}). "
                f"Move it first: af.to_device(x, ...)."
            )
        if copy is False:
            raise BufferError(
                f"__dlpack__: copy=False, but the Variable is on {self.device} (at {user_site()}). Drop copy=False."
            )
        raw, asked = to_host(raw, kind="implicit", entry="__dlpack__()"), {"max_version": max_version}
    return raw.__dlpack__(**{name: value for name, value in asked.items() if value is not None})


def _dlpack_device(self: Variable, /) -> tuple[Any, int]:
    return self.array.__dlpack_device__()


def _namespace(self: Variable, /, *, api_version: str | None = None) -> Any:
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"__array_namespace__: version {api_version!r} of the array API is not there. There are "
            f"{', '.join(_VERSIONS)}."
        )
    from .. import namespace

    return namespace


# --- methods ----------------------------------------------------------------------------------------


def _transposed(self: Variable) -> Variable:
    """The transpose of a matrix. For stacks of matrices: `mT`."""
    if self.ndim != 2:
        raise ShapeError(
            f"x.T is for matrices, but x.shape is {self.shape} (at {user_site()}). Use x.mT or af.permute_dims."
        )
    return matrix_transpose(self)


def _matrix_transposed(self: Variable) -> Variable:
    """The transpose of each matrix of a stack, shape (..., M, N)."""
    return matrix_transpose(self)


def _reshape(self: Variable, *shape: Any) -> Variable:
    """The same elements in another shape: ``x.reshape(2, -1)`` or ``x.reshape((2, -1))``; see `arrayflow.reshape`."""
    return manipulation.reshape(self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)


def _astype(self: Variable, dtype: Any, *, copy: bool = True) -> Variable:
    """The values in another data type; see `arrayflow.astype`."""
    return astype(self, dtype, copy=copy)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Variable, axis: Any = None, keepdims: bool = False) -> Variable:
        return function(self, axis=axis, keepdims=keepdims)

    method.__doc__ = f"See `arrayflow.{function.__name__}`."
    return method


def _put_on() -> None:
    def put(name: str, function: Any) -> None:
        if not isinstance(function, property):
            function.__name__, function.__qualname__ = name, f"Variable.{name}"
        setattr(Variable, name, function)

    for name, (symbol, function) in _ARITHMETIC.items():
        put(f"__{name}__", _forward(function))
        put(f"__r{name}__", _reflected(function))
        put(f"__i{name}__", _in_place(function, f"{symbol}="))
    put("__matmul__", _matmul)
    put("__rmatmul__", _reflected(matmul))
    put("__imatmul__", _in_place(matmul, "@="))
    for name, function in _COMPARISONS.items():
        put(f"__{name}__", _forward(function))
    for name, function in _UNARY.items():
        setattr(Variable, f"__{name}__", function)
    for name in ("sum", "mean", "max", "min"):
        put(name, _reduction(getattr(statistical, name)))
    methods = {
        "__setitem__": _set_item,
        "__len__": _length,
        "__iter__": _iterate,
        "__contains__": _contains,
        "__float__": _float,
        "__int__": _int,
        "__bool__": _bool,
        "__complex__": _complex,
        "__index__": _index,
        "__format__": _format,
        "__array__": _to_numpy,
        "__dlpack__": _dlpack,
        "__dlpack_device__": _dlpack_device,
        "__array_namespace__": _namespace,
        "reshape": _reshape,
        "astype": _astype,
        "T": property(_transposed),
        "mT": property(_matrix_transposed),
    }
    for name, method in methods.items():
        put(name, method)
    Variable.__getitem__ = get_item  # type: ignore[method-assign]
    Variable.__repr__ = variable_text  # type: ignore[method-assign, assignment]
    Variable.__str__ = variable_text  # type: ignore[method-assign, assignment]


_put_on()
