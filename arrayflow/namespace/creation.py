"""Creation functions. Constants are made where they shall be: no data moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

from ..autograd import primitive
from ..autograd.operands import SCALARS, check_one_device, check_range
from ..autograd.primitive import broadcast
from ..autograd.variable import Variable, _wrap, as_raw
from ..backends import registry
from ..config import config
from ..device import Device, default_device, device_of_raw
from ..dtypes import DType, as_dtype
from ..errors import DTypeError, ShapeError
from ..transfers import user_site
from ._axes import reshaped
from ._conversion import asarray, default_dtype, from_dlpack
from ._docs import numpydoc
from .data_types import dtype_of

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]

_DTYPE = "dtype : data type, optional\n    By default {}."
_DEVICE = "device : str or Device, optional\n    By default {}."
_SHAPE = "shape : int or tuple of int"


def _shape(name: str, shape: Any) -> tuple[int, ...]:
    found: tuple[int, ...]
    try:
        found = (index(shape),)
    except TypeError:
        found = tuple(index(n) for n in shape)
    if any(n < 0 for n in found):
        raise ShapeError(f"{name}: lengths are 0 or more, but shape is {found} (at {user_site()}).")
    return found


def _number(function: str, name: str, value: Any) -> Any:
    """A Python number; NumPy's scalars become one."""
    backend = registry.backend_of(value)
    number: Any = value
    if backend is not None and isinstance(value, backend.scalar_types):
        number = number.item()
    if not isinstance(number, SCALARS):
        raise DTypeError(
            f"{function}: {name} must be a Python number, but it is a {type(value).__name__} (at {user_site()}). "
            f"Read it first: {name}.item()."
        )
    return number


def _make(function: str, device: Any, dtype: DType | None, *args: Any, **kwargs: Any) -> Variable:
    place = default_device() if device is None else Device(device)
    return _wrap(place.backend.create(function, place.native, *args, dtype=dtype or config.dtype, **kwargs))


def _filled(name: str, what: str, printed: str) -> tuple[Callable[..., Variable], Callable[..., Any]]:
    """A function of a shape, and the one of an array whose shape it takes."""

    def make(shape: int | Sequence[int], *, dtype: Any = None, device: str | Device | None = None) -> Variable:
        return _make(name, device, None if dtype is None else as_dtype(dtype), _shape(name, shape))

    def like(x: Any, /, *, dtype: Any = None, device: str | Device | None = None) -> Any:
        place, own = _place(x, f"{name}_like")
        place = place if device is None else Device(device)
        made = place.backend.create(name, place.native, tuple(x.shape), dtype=own if dtype is None else as_dtype(dtype))
        return _wrap(made) if isinstance(x, Variable) else made

    make.__name__ = make.__qualname__ = name
    make.__doc__ = numpydoc(
        f"An array {what}.",
        _SHAPE,
        _DTYPE.format("``af.config.dtype``"),
        _DEVICE.format("the default device"),
        returns="Variable, of `shape`",
        example=f'>>> af.{name}((2,), device="cpu"){printed}',
    )
    like.__name__ = like.__qualname__ = f"{name}_like"
    like.__doc__ = numpydoc(
        f"An array {what}, of the shape of another.",
        "x : array or Variable",
        _DTYPE.format("that of `x`"),
        _DEVICE.format("that of `x`"),
        returns="array or Variable, shape of `x`\n    An array of its device's library where `x` is no Variable.",
        example=f'>>> af.{name}_like(af.asarray([1.5, 2.5], device="cpu")){printed}',
    )
    return make, like


def _place(x: Any, function: str) -> tuple[Device, DType]:
    if isinstance(x, Variable):
        return x.device, x.dtype
    dtype = dtype_of(x, function)
    return device_of_raw(x), dtype


zeros, zeros_like = _filled("zeros", "of zeros", "\nVariable([0., 0.], dtype=float32, device='cpu')")
ones, ones_like = _filled("ones", "of ones", "\nVariable([1., 1.], dtype=float32, device='cpu')")
empty, empty_like = _filled("empty", "whose values are left to chance", ".shape\n(2,)")


def full(
    shape: int | Sequence[int], fill_value: Any, *, dtype: Any = None, device: str | Device | None = None
) -> Variable:
    """An array of one value.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : Python scalar, or 0-d array or Variable
        Through a Variable gradients pass.
    dtype : data type, optional
        By default the one that `asarray` gives `fill_value`.
    device : str or Device, optional
        By default the default device, or that of an array `fill_value`.

    Returns
    -------
    Variable, of `shape`

    Examples
    --------
    >>> import arrayflow as af
    >>> af.full((2,), 7, device="cpu")
    Variable([7, 7], dtype=int64, device='cpu')
    """
    found = _shape("full", shape)
    backend = registry.backend_of(as_raw(fill_value))
    if backend is not None and not isinstance(fill_value, backend.scalar_types):
        value = asarray(fill_value, dtype=dtype, device=device)
        if value.shape != ():
            raise ShapeError(
                f"full: fill_value must be one number, but its shape is {value.shape} (at {user_site()}). Use "
                f"af.broadcast_to."
            )
        return broadcast(value, found)
    value = _number("full", "fill_value", fill_value)
    place = default_device() if device is None else Device(device)
    want = default_dtype(value, place) if dtype is None else as_dtype(dtype)
    if isinstance(value, complex) and want.kind not in ("complex floating", "bool"):
        raise DTypeError(f"full: fill_value {value!r} cannot become {want!s} (at {user_site()}). Pass its real part.")
    if isinstance(value, int):
        check_range("full", value, want)
    return _make("full", place, want, found, value)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: str | Device | None = None) -> Any:
    """An array of one value, of the shape of another.

    Parameters
    ----------
    x : array or Variable
    fill_value : Python scalar
    dtype : data type, optional
        By default that of `x`.
    device : str or Device, optional
        By default that of `x`.

    Returns
    -------
    array or Variable, shape of `x`
        A Variable where `x` is one, else an array of the library of its device.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.full_like(af.asarray([1.5, 2.5], device="cpu"), 7)
    Variable([7., 7.], dtype=float32, device='cpu')
    """
    place, own = _place(x, "full_like")
    made = full(
        tuple(x.shape), fill_value, dtype=own if dtype is None else dtype, device=place if device is None else device
    )
    return made if isinstance(x, Variable) else made.array


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: str | Device | None = None
) -> Variable:
    """``start, start + step, ...`` up to, without, `stop`.

    Parameters
    ----------
    start, stop, step : Python number
        With one number, that is `stop`, and `start` is 0.
    dtype : data type, optional
        By default the default integer where all are integers, else ``af.config.dtype``.
    device : str or Device, optional
        By default the default device.

    Returns
    -------
    Variable, of ``ceil((stop - start) / step)`` elements

    Examples
    --------
    >>> import arrayflow as af
    >>> af.arange(3, device="cpu"), af.arange(1.0, 2.0, 0.5, device="cpu")
    (Variable([0, 1, 2], dtype=int64, device='cpu'), Variable([1. , 1.5], dtype=float32, device='cpu'))
    """
    first, last = (0, start) if stop is None else (start, stop)
    numbers = [_number("arange", n, v) for n, v in (("start", first), ("stop", last), ("step", step))]
    if numbers[2] == 0:
        raise ShapeError(f"arange: step must not be 0 (at {user_site()}).")
    place = default_device() if device is None else Device(device)
    if dtype is None:
        want = default_dtype(numbers[0] * 0 + numbers[1] * 0 + numbers[2] * 0, place)
    else:
        want = as_dtype(dtype)
    return _make("arange", place, want, *numbers)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: str | Device | None = None,
    endpoint: bool = True,
) -> Variable:
    """`num` numbers from `start` to `stop` at equal distances.

    Parameters
    ----------
    start, stop : Python number
    num : int
    dtype : data type, optional
        By default ``af.config.dtype``, or the complex type of its width.
    device : str or Device, optional
        By default the default device.
    endpoint : bool
        Whether `stop` is the last of them.

    Returns
    -------
    Variable, shape (num,)

    Examples
    --------
    >>> import arrayflow as af
    >>> af.linspace(0, 1, 3, device="cpu")
    Variable([0. , 0.5, 1. ], dtype=float32, device='cpu')
    """
    first, last = _number("linspace", "start", start), _number("linspace", "stop", stop)
    place = default_device() if device is None else Device(device)
    want = default_dtype(first * 1.0 + last * 1.0, place) if dtype is None else as_dtype(dtype)
    (n,) = _shape("linspace", num)
    return _make("linspace", place, want, first, last, n, endpoint=endpoint)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: str | Device | None = None
) -> Variable:
    """A matrix with ones on one diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        Without `n_cols` it is square.
    k : int
        Which diagonal: above the main one for positive numbers, below it for negative ones.
    dtype : data type, optional
        By default ``af.config.dtype``.
    device : str or Device, optional
        By default the default device.

    Returns
    -------
    Variable, shape (n_rows, n_cols)

    Examples
    --------
    >>> import arrayflow as af
    >>> af.eye(2, device="cpu")
    Variable([[1., 0.],
              [0., 1.]], dtype=float32, device='cpu')
    """
    rows, cols = _shape("eye", (n_rows, n_rows if n_cols is None else n_cols))
    return _make("eye", device, None if dtype is None else as_dtype(dtype), rows, cols, k=k)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """Coordinates of the points of a grid, one array for each of its axes.

    Parameters
    ----------
    *arrays : array or Variable, 1-d
        The positions along each axis, on one device.
    indexing : {"xy", "ij"}
        "ij" puts the axes in the order given; "xy" swaps the first two.

    Returns
    -------
    tuple of array or Variable
        As many as were given, all of one shape; gradients pass.

    Raises
    ------
    DeviceMismatchError
        If they live on different devices.
    ShapeError
        If one is not 1-d.

    Examples
    --------
    >>> import arrayflow as af
    >>> x, y = af.meshgrid(af.asarray([1, 2], device="cpu"), af.asarray([3, 4], device="cpu"))
    >>> y
    Variable([[3, 3],
              [4, 4]], dtype=int64, device='cpu')
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', but it is {indexing!r} (at {user_site()}).")
    if not arrays:
        return ()
    check_one_device("meshgrid", [f"arrays[{i}]" for i in range(len(arrays))], arrays)
    if any(len(x.shape) != 1 for x in arrays):
        raise ShapeError(
            f"meshgrid: arrays must be 1-d, but their shapes are {[tuple(x.shape) for x in arrays]} (at {user_site()})."
        )
    axes = list(range(len(arrays)))
    if indexing == "xy":
        axes[:2] = axes[:2][::-1]
    lengths = [x.shape[0] for x in arrays]
    shape = [0] * len(arrays)
    for axis, n in zip(axes, lengths, strict=True):
        shape[axis] = n
    lined = (
        reshaped(x, tuple(n if k == axis else 1 for k in range(len(axes))))
        for x, axis, n in zip(arrays, axes, lengths, strict=True)
    )
    return tuple(broadcast(x, tuple(shape)) for x in lined)


def _triangle(name: str, side: str, rows: str) -> Callable[..., Any]:
    made = primitive(f"{name}(x, /, *, k=0)", lambda g, k: made(g, k=k))

    def triangle(x: Any, /, *, k: int = 0) -> Any:
        if len(x.shape) < 2:
            raise ShapeError(
                f"{name}: x must be a matrix or a stack of them, but x.shape is {tuple(x.shape)} (at {user_site()})."
            )
        return made(x, k=k)

    triangle.__name__ = triangle.__qualname__ = name
    triangle.primitive = made.primitive  # type: ignore[attr-defined]
    triangle.__doc__ = numpydoc(
        f"The {side} triangle of a matrix, with zeros elsewhere.",
        "x : array or Variable, shape (..., M, N)",
        "k : int\n    The last diagonal that stays: above the main one for positive numbers, below it for negative "
        "ones.",
        returns="array or Variable, shape and dtype of `x`",
        raises="ShapeError\n    If `x` has fewer than two axes.",
        example=f">>> af.{name}(af.ones((2, 2), device=\"cpu\"))\nVariable({rows}, dtype=float32, device='cpu')",
    )
    return triangle


tril = _triangle("tril", "lower", "[[1., 0.],\n          [1., 1.]]")
triu = _triangle("triu", "upper", "[[1., 1.],\n          [0., 1.]]")
