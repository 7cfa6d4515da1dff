"""Linear algebra functions of the standard's core: products of matrices and vectors.

The gradient of a complex array is the one that PyTorch uses: the cotangent times the conjugate of the
derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ..autograd import primitive
from ..autograd.primitive import sum_to
from ..errors import ShapeError
from ._axes import axes_of, reshaped
from ._docs import numpydoc
from ._elementwise import conjugate
from .manipulation import expand_dims, permute_dims

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def _transposed(x: Any) -> Any:
    """The conjugate transpose of matrices."""
    return matrix_transpose(conjugate(x))


# --- matmul ----------------------------------------------------------------------------------------


def _summed(x: Any, shape: Sequence[int]) -> Any:
    return x if tuple(x.shape) == tuple(shape) else sum_to(x, tuple(shape))


def _matmul_grad_1(g: Any, x2: Any, shape: Sequence[int]) -> Any:
    if len(x2.shape) == 1:  # (..., K) x (K) -> (...)
        outer = expand_dims(g, axis=-1) * conjugate(x2)
        return _summed(outer, shape)
    if len(shape) == 1:  # (K) x (..., K, N) -> (..., N)
        g = expand_dims(g, axis=-2)
        return reshaped(_summed(matmul(g, _transposed(x2)), (1, *shape)), tuple(shape))
    return _summed(matmul(g, _transposed(x2)), shape)


def _matmul_grad_2(g: Any, x1: Any, shape: Sequence[int]) -> Any:
    if len(x1.shape) == 1:
        if len(shape) == 1:  # (K) x (K) -> ()
            return g * conjugate(x1)
        # (K) x (..., K, N) -> (..., N)
        outer = expand_dims(conjugate(x1), axis=-1) * expand_dims(g, axis=-2)
        return _summed(outer, shape)
    if len(shape) == 1:  # (..., M, K) x (K) -> (..., M)
        return reshaped(matmul(_transposed(_matrix(x1)), reshaped(g, (prod(g.shape), 1))), tuple(shape))
    if len(shape) == 2:  # one matrix for all: one product does the sum over the batch
        return matmul(_transposed(_matrix(x1)), _matrix(g))
    return _summed(matmul(_transposed(x1), g), shape)


def _matrix(x: Any) -> Any:
    """(..., M, K) -> (... M, K)"""
    shape = tuple(x.shape)
    return reshaped(x, (prod(shape[:-1]), shape[-1]))


matmul: Callable[..., Any] = primitive(
    "matmul",
    lambda g, x2, shape: _matmul_grad_1(g, x2, shape),
    lambda g, x1, shape: _matmul_grad_2(g, x1, shape),
    doc=numpydoc(
        "The matrix product ``x1 @ x2``.",
        "x1 : array or Variable, shape (..., M, K) or (K,)\n    Numeric.",
        "x2 : array or Variable, shape (..., K, N) or (K,)\n    Numeric, on the device of `x1`. Leading axes "
        "broadcast; a vector's axis is not in the result.",
        returns="array or Variable, shape (..., M, N)",
        raises="ValueError\n    If the shapes do not fit.\nDeviceMismatchError\n    If the two are on two devices.",
        example="""
        >>> af.matmul(af.ones((2, 3), device="cpu"), af.ones((3,), device="cpu"))
        Variable([3., 3.], dtype=float32, device='cpu')
        """,
    ),
)

matrix_transpose: Callable[..., Any] = primitive(
    "matrix_transpose",
    lambda g: matrix_transpose(g),
    doc=numpydoc(
        "The last two axes exchanged.",
        "x : array or Variable, shape (..., M, N)\n    The input.",
        returns="array or Variable, shape (..., N, M)",
        raises="ValueError\n    If `x` has fewer than two axes.",
        example="""
        >>> af.matrix_transpose(af.zeros((4, 2, 3), device="cpu")).shape
        (4, 3, 2)
        """,
    ),
)

# --- tensordot -------------------------------------------------------------------------------------


def _pairs(axes: Any, ndim_1: int, ndim_2: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes that are summed over together, of either array."""
    if isinstance(axes, int):
        return tuple(range(ndim_1 - axes, ndim_1)), tuple(range(axes))
    first, second = axes
    return axes_of(tuple(first), ndim_1), axes_of(tuple(second), ndim_2)


def _tensordot_grad(g: Any, other: Any, own: tuple[int, ...], theirs: tuple[int, ...], ndim: int, first: bool) -> Any:
    free = [a for a in range(ndim) if a not in own]
    other_free = [a for a in range(len(other.shape)) if a not in theirs]
    # The axes of g are those free in x1, then those free in x2: those of `other` are summed over.
    start = len(free) if first else 0
    part = tensordot(g, conjugate(other), axes=(tuple(range(start, start + len(other_free))), tuple(other_free)))
    # What is left of `other` are its summed axes in ascending order: each goes where its partner was.
    places = [*free, *(own[theirs.index(a)] for a in sorted(theirs))]
    return permute_dims(part, tuple(sorted(range(ndim), key=places.__getitem__)))


def _tensordot_grad_1(g: Any, x2: Any, shape: Sequence[int], axes: Any) -> Any:
    own, theirs = _pairs(axes, len(shape), len(x2.shape))
    return _tensordot_grad(g, x2, own, theirs, len(shape), first=True)


def _tensordot_grad_2(g: Any, x1: Any, shape: Sequence[int], axes: Any) -> Any:
    theirs, own = _pairs(axes, len(x1.shape), len(shape))
    return _tensordot_grad(g, x1, own, theirs, len(shape), first=False)


tensordot: Callable[..., Any] = primitive(
    "tensordot(x1, x2, /, *, axes=2)",
    lambda g, x2, shape, axes: _tensordot_grad_1(g, x2, shape, axes),
    lambda g, x1, shape, axes: _tensordot_grad_2(g, x1, shape, axes),
    promote=("x1", "x2"),
    doc=numpydoc(
        "Products of elements summed over axes of both arrays.",
        "x1, x2 : array or Variable, numeric\n    On one device.",
        "axes : int or two sequences of int\n    Which axes of `x1` go with which of `x2`. A number n means the last n "
        "of `x1` and the\n    first n of `x2`.",
        returns="array or Variable\n    Its axes are those left of `x1`, then those left of `x2`.",
        raises="ValueError\n    If the axes do not fit.\nDeviceMismatchError\n    If the two are on two devices.",
        example="""
        >>> x1, x2 = af.ones((2, 3, 4), device="cpu"), af.ones((4, 3, 5), device="cpu")
        >>> af.tensordot(x1, x2, axes=((1, 2), (1, 0))).shape
        (2, 5)
        """,
    ),
)

# --- vecdot ----------------------------------------------------------------------------------------

_vecdot: Callable[..., Any] = primitive(
    "vecdot(x1, x2, /, *, axis=-1)",
    lambda g, x2, shape, axis: _summed(expand_dims(conjugate(g), axis=axis) * x2, shape),
    lambda g, x1, shape, axis: _summed(expand_dims(g, axis=axis) * x1, shape),
    promote=("x1", "x2"),
)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The dot product ``sum(conj(x1) * x2)`` of vectors.

    Parameters
    ----------
    x1, x2 : array or Variable, numeric
        On one device. Axes other than `axis` broadcast.
    axis : int
        Along which the vectors lie, counted from the last; from the first only where both have as many axes.

    Returns
    -------
    array or Variable

    Raises
    ------
    ShapeError
        If the vectors have different lengths.
    DeviceMismatchError
        If the two are on two devices.

    Examples
    --------
    >>> import arrayflow as af
    >>> float(af.vecdot(af.asarray([1.0, 2.0], device="cpu"), af.asarray([3.0, 4.0], device="cpu")))
    11.0
    """
    ndim_1, ndim_2 = len(x1.shape), len(x2.shape)
    if axis >= 0 and ndim_1 == ndim_2:
        axis -= ndim_1
    if not -min(ndim_1, ndim_2) <= axis < 0 or x1.shape[axis] != x2.shape[axis]:
        raise ShapeError(
            f"vecdot: x1 and x2 must have the same length along axis, but their shapes are {tuple(x1.shape)} and "
            f"{tuple(x2.shape)}, and axis is {axis}."
        )
    return _vecdot(x1, x2, axis=axis)
