"""The fused operations of neural networks, each with its rule. They are no part of the standard.

`linear`, `times` and `outer` are closed under differentiation: each one's rules are the other two.
"""

from __future__ import annotations

import math
from typing import Any

from ..autograd import primitive
from ..autograd.dispatch import FLOATING, ONE_DEVICE, same_device
from ..autograd.operands import SCALARS, prepare
from ..autograd.primitive import Primitive, broadcast, cast
from ..autograd.tape import Node
from ..autograd.variable import Variable, _new, as_raw
from ..backends import registry
from ..config import _debug, backprop_enabled
from ..device import to_host
from ..dtypes import DTYPES
from ..errors import DTypeError, ShapeError
from ..transfers import user_site

__all__ = ["linear", "outer", "relu", "softmax_cross_entropy", "times", "total"]

_recording = backprop_enabled.get
_debugging = _debug.get
_FIX_2: tuple[None, ...] = (None, None)
_FIX_3: tuple[None, ...] = (None, None, None)


# --- linear ---------------------------------------------------------------------------------------

times: Any = primitive(
    "matmul",
    lambda g, x2: linear(g, x2),
    lambda g, x1: outer(x1, g),
    doc="``x1 @ x2`` over the last axis of `x1`, for a matrix `x2`.",
)
outer: Any = primitive(
    "matmul_into(x1, x2, /, out=None)",
    lambda g, x2: linear(x2, g),
    lambda g, x1: times(x1, g),
    doc="``x1.T @ x2``, all axes but the last taken as rows; `out` may be overwritten.",
)
total: Any = primitive(
    "sum_into(x, /, out=None)",
    lambda g, shape: broadcast(g, tuple(shape)),
    doc="The sum over all axes but the last; `out` may be overwritten.",
)


_times: Primitive = times.primitive
_outer: Primitive = outer.primitive
_total: Primitive = total.primitive


def _outer_into(g: Any, x: Any, out: Any) -> Any:
    if isinstance(g, Variable):
        return outer(g, x)
    return (_outer.impl.get(g.__class__) or _outer.find(g))(g, x, out)


def _total_into(g: Any, out: Any) -> Any:
    if isinstance(g, Variable):
        return total(g)
    return (_total.impl.get(g.__class__) or _total.find(g))(g, out)


def _times_raw(g: Any, weight: Any) -> Any:
    if isinstance(g, Variable):
        return times(g, weight)
    return (_times.impl.get(g.__class__) or _times.find(g))(g, weight)


_linear = Primitive(
    "linear",
    ("x", "weight", "bias"),
    (),
    (_times_raw, _outer_into, _total_into),
    promote=(0, 1, 2),
    floating=True,
)


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """``x @ weight.T + bias`` over the last axis of `x`; see `arrayflow.functions.linear`."""
    vx, vw, vb = isinstance(x, Variable), isinstance(weight, Variable), isinstance(bias, Variable)
    a = x.array if vx else x
    w = weight.array if vw else weight
    b = bias.array if vb else bias
    cls = a.__class__
    if (
        cls is not w.__class__
        or cls not in FLOATING
        or a.dtype not in FLOATING[cls]
        or (a.dtype is not w.dtype and a.dtype != w.dtype)
        or not (cls in ONE_DEVICE or same_device(a, w))
        or (b is not None and (b.__class__ is not cls or b.dtype != a.dtype))
        or not (b is None or cls in ONE_DEVICE or same_device(a, b))
    ):
        return _linear_with_care(x, weight, bias)
    x_shape, w_shape = a.shape, w.shape
    if not (len(w_shape) == 2 and x_shape and x_shape[-1] == w_shape[1] and (b is None or b.shape == w_shape[:1])):
        _check_linear(x_shape, w_shape, b, weight, bias)
    y = (_linear.impl.get(cls) or _linear.find(a))(a, w, b)
    if y.__class__ is not cls:
        y = registry.backend_of(a).as_array(y)  # type: ignore[union-attr]
    if not (vx or vw or vb):
        return y
    out = _new(Variable)
    out.array = y
    out._grad = None
    out._node = None
    if _recording():
        nx = x._node if vx else None
        nw = weight._node if vw else None
        nb = bias._node if vb else None
        if not (nx is None and nw is None and nb is None):
            out._node = Node(
                _linear,
                (x if nx is True else nx, weight if nw is True else nw, bias if nb is True else nb),
                (None if nx is None else (w,), None if nw is None else (a,), None if nb is None else ()),
                _FIX_3,
            )
    return out


def _no_numbers(function: str, **operands: Any) -> None:
    """These functions have no meaning for numbers, which elsewhere stand for arrays."""
    for name, x in operands.items():
        if isinstance(x, SCALARS):
            raise TypeError(
                f"{function}: {name} must be an array or a Variable, but it is a {type(x).__name__} "
                f"(at {user_site()}). Make it one: af.asarray(x, device=...)."
            )


def _linear_with_care(x: Any, weight: Any, bias: Any) -> Any:
    _no_numbers("linear", x=x, weight=weight, bias=bias)
    checked = [as_raw(v) for v in (x, weight, bias)]
    shapes = [getattr(raw, "shape", None) for raw in checked]
    backends = [registry.backend_of(raw) for raw in checked]
    # Operands of one library are checked for their shapes here; what else is wrong, `apply` finds and says.
    if backends[0] is not None and backends[0] is backends[1] and backends[2] in (None, backends[0]):
        places = {backends[0].key(raw) for raw in checked if raw is not None}
        if len(places) == 1:
            _check_linear(shapes[0], shapes[1], checked[2], weight, bias)
    return _linear.apply((x, weight, bias), {})


def _check_linear(x_shape: Any, w_shape: Any, b: Any, weight: Any, bias: Any) -> None:
    if len(w_shape) == 2 and len(x_shape) and x_shape[-1] == w_shape[1] and (b is None or b.shape == w_shape[:1]):
        return
    where = getattr(weight, "path", "")
    named = f"weight (parameter {where!r})" if where else "weight"
    if len(w_shape) != 2:
        fault = f"{named} must be a matrix (out_features, in_features), but its shape is {tuple(w_shape)}"
        way_out = "A vector? Pass weight[None, :]."
    elif not len(x_shape) or x_shape[-1] != w_shape[1]:
        fault = (
            f"the last axis of x must have in_features = {w_shape[1]} elements, but x.shape is {tuple(x_shape)} "
            f"and the shape of {named} is {tuple(w_shape)}"
        )
        way_out = "Images? Flatten them: af.reshape(x, (x.shape[0], -1))."
    else:
        fault = (
            f"bias must have the shape ({w_shape[0]},), but its shape is {tuple(b.shape)} and that of {named} is "
            f"{tuple(w_shape)}"
        )
        way_out = f"Pass a bias of {w_shape[0]} elements, or None."
    raise ShapeError(f"linear: {fault} (at {user_site()}). {way_out}")


# --- relu -----------------------------------------------------------------------------------------

relu: Any = primitive("relu", lambda g, y: _relu_grad(g, y), doc="``max(x, 0)``; see `arrayflow.functions.relu`.")
_relu_grad: Any = primitive("relu_grad", lambda g, x2: _relu_grad(g, x2), None)


# --- softmax cross entropy ------------------------------------------------------------------------


def _mean_cross_entropy(logits: Any, labels: Any) -> Any:
    """The definition in plain array code, for second derivatives."""
    from .. import namespace as xp

    shifted = logits - xp.max(logits, axis=1, keepdims=True)
    log_total = xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))
    return xp.mean(log_total - xp.take_along_axis(shifted, xp.expand_dims(labels, axis=1), axis=1))


# For the checks that come before any arithmetic: operands as they are.
_checked = Primitive("softmax_cross_entropy", ("logits", "labels"), (), (None, None))
_grad = Primitive("softmax_cross_entropy_grad", ("g", "probabilities", "labels"), (), (None, None, None))
_cross_entropy = Primitive(
    "softmax_cross_entropy",
    ("logits", "labels"),
    (),
    (lambda g, probabilities, labels: (_grad.impl.get(g.__class__) or _grad.find(g))(g, probabilities, labels), None),
    promote=(0,),
    floating=True,
    definition=_mean_cross_entropy,
    aux="probabilities",
)


def softmax_cross_entropy(logits: Any, labels: Any) -> Any:
    """Mean cross entropy over all leading axes; see `arrayflow.functions.softmax_cross_entropy`."""
    vz, vt = isinstance(logits, Variable), isinstance(labels, Variable)
    z = logits.array if vz else logits
    t = labels.array if vt else labels
    cls = z.__class__
    if (
        cls is not t.__class__
        or cls not in _INDICES
        or t.dtype not in _INDICES[cls]
        or z.dtype not in FLOATING.get(cls, ())
        or not (cls in ONE_DEVICE or same_device(z, t))
        or len(shape := z.shape) != 2
        or t.shape != shape[:1]
        or 0 in shape
        or _debugging()
    ):
        return _cross_entropy_with_care(logits, labels)
    try:
        y, probabilities = (_cross_entropy.impl.get(cls) or _cross_entropy.find(z))(z, t)
    except IndexError:
        _check_range(t, z.shape[1])
        raise
    if y.__class__ is not cls:
        y = registry.backend_of(z).as_array(y)  # type: ignore[union-attr]
    if not (vz or vt):
        return y
    out = _new(Variable)
    out.array = y
    out._grad = None
    node = logits._node if vz else None
    if node is None or not _recording():
        out._node = None
    else:
        parent = logits if node is True else node
        out._node = Node(_cross_entropy, (parent, None), ((probabilities, t), None, ((z, t), {})), _FIX_2)
    return out


# The data types in which every library takes indices, and by class of array its own objects for them.
_INDEX = (DTYPES["int32"], DTYPES["int64"])
_INDICES: dict[type, set[Any]] = {}


def _learn(backend: Any) -> None:
    for cls in backend.array_types:
        _INDICES[cls] = {backend.raw_dtypes[d] for d in _INDEX if d in backend.raw_dtypes}


registry.on_load(_learn)


def _cross_entropy_with_care(logits: Any, labels: Any) -> Any:
    from .. import namespace as xp

    _no_numbers("softmax_cross_entropy", logits=logits, labels=labels)
    backend, _, (z, t), first = prepare(_checked, (logits, labels))
    dtype = backend.dtype_of_raw[t.dtype]
    if dtype.kind not in ("signed integer", "unsigned integer"):
        raise DTypeError(
            f"softmax_cross_entropy: labels must be integers, class indices in [0, K), but their dtype is {dtype!s} "
            f"(at {user_site()}). One-hot labels? Pass af.argmax(labels, axis=-1). Whole numbers? Cast them: "
            f"af.astype(labels, af.int64)."
        )
    if not z.shape or tuple(t.shape) != tuple(z.shape[:-1]):
        raise ShapeError(
            f"softmax_cross_entropy: labels.shape must equal logits.shape[:-1], but labels.shape is {tuple(t.shape)} "
            f"and logits.shape is {tuple(z.shape)} (at {user_site()}). One-hot labels? Pass af.argmax(labels, axis=-1)."
        )
    n, k = math.prod(t.shape), z.shape[-1]
    if not n or not k:
        raise ShapeError(
            f"softmax_cross_entropy: the mean over no labels, or no classes, does not exist, but logits.shape is "
            f"{tuple(z.shape)} (at {user_site()}). Leave empty batches out."
        )
    if _debugging():
        _check_range(t, k)
    if dtype not in _INDEX:
        has = backend.dtypes_on(backend.key(first))
        labels = cast(labels, dtype=DTYPES["int64"] if DTYPES["int64"] in has else DTYPES["int32"])
    if len(z.shape) != 2:
        logits, labels = xp.reshape(logits, (n, k)), xp.reshape(labels, (n,))
    try:
        return _cross_entropy.apply((logits, labels), {})
    except IndexError:  # NumPy looks at the labels by itself
        _check_range(t, k)
        raise


def _check_range(labels: Any, k: int) -> None:
    host = to_host(labels, entry="debug: labels")
    low, high = int(host.min()), int(host.max())
    if low < 0 or high >= k:
        raise ValueError(
            f"softmax_cross_entropy: labels must lie in [0, {k}) for logits of {k} classes, but they reach from {low} "
            f"to {high} (at {user_site()}). Count classes from 0, and give the last layer as many outputs as there are."
        )
