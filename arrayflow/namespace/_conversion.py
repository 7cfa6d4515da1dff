"""`asarray` and `from_dlpack`: what is no Variable becomes one."""

from __future__ import annotations

from typing import Any

from ..autograd.operands import SCALARS, check_range
from ..autograd.variable import Variable, _wrap, as_raw
from ..backends import registry
from ..backends.protocol import Backend
from ..config import config
from ..device import Device, default_device, device_of_raw, move, to_device
from ..dtypes import DTYPES, DType, as_dtype
from ..errors import DTypeError, TransferError
from ..transfers import user_site
from .data_types import astype, complex64, complex128, default_integer, raw_astype

__all__ = ["asarray", "default_dtype", "from_dlpack"]


class _CopyError(TransferError, ValueError):
    """``copy=False`` where it takes a copy."""


class _NoArrayError(TransferError):
    """Something that no array can be made of."""


class _BufferError(TransferError, BufferError):
    """An exchange over DLPack that one side refused."""


def asarray(
    obj: Any,
    /,
    *,
    dtype: Any = None,
    device: str | Device | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Variable:
    """A Variable of numbers, lists, buffers, or an array of any library.

    Parameters
    ----------
    obj : Python scalar, nested list or tuple, buffer, array or Variable
        Lists hold numbers, arrays or Variables; through Variables in them gradients pass.
    dtype : data type, optional
        By default that of an array; ``af.config.dtype`` for Python floats, the default integer for ints. NumPy's
        scalars are values like Python's.
    device : str or Device, optional
        By default where an array is, else the default device. Data that moves is recorded, as explicit.
    copy : bool, optional
        None, the default, copies what others may write to, an array of a mutable library or a buffer, and gives a
        Variable itself back. True copies always, False never: it then shares memory with the caller.
    requires_grad : bool
        Whether `backward` shall leave a gradient on the result, which is then a leaf of its own.

    Returns
    -------
    Variable

    Raises
    ------
    TransferError
        If nothing can be made of `obj`, or ``copy=False`` and it takes a copy.
    DTypeError
        If there is no such data type on the device, or `obj` holds what is no number.
    ShapeError
        If rows differ in length.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.asarray([[1, 2], [3, 4]], dtype=af.float32, device="cpu")
    Variable([[1., 2.],
              [3., 4.]], dtype=float32, device='cpu')
    """
    place = None if device is None else Device(device)
    want = None if dtype is None else as_dtype(dtype)
    if isinstance(obj, Variable):
        out = _of_variable(obj, want, place, copy)
    else:
        backend = registry.backend_of(obj)
        if backend is not None and not isinstance(obj, backend.scalar_types):
            out = _wrap(_of_array(obj, backend, want, place, copy))
        else:
            out = _of_python(obj if backend is None else obj.item(), want, place, copy)
    if requires_grad:
        if out is obj or not out.is_leaf:
            out = out.detach()
        out.requires_grad = True
    return out


def _no_copy(why: str) -> _CopyError:
    return _CopyError(f"asarray: copy=False, but {why}, which takes a copy (at {user_site()}). Drop copy=False.")


def _of_variable(x: Variable, want: DType | None, place: Device | None, copy: bool | None) -> Variable:
    cast = want is not None and want != x.dtype
    moved = place is not None and place is not x.device
    if copy is False and (cast or moved):
        raise _no_copy(f"x is {x.dtype!s} on {x.device} and shall be {want or x.dtype!s} on {place or x.device}")
    narrows = want is not None and _narrows(x.dtype, want, x.device)
    if cast and narrows:
        x = astype(x, want, copy=False)
    if moved:
        x = to_device(x, place)  # type: ignore[arg-type]
    if cast and not narrows:
        x = astype(x, want, copy=False)
    return astype(x, x.dtype) if copy and not (cast or moved) else x


def _of_array(x: Any, backend: Backend, want: DType | None, place: Device | None, copy: bool | None) -> Any:
    x = backend.adopt(x)
    own, source = backend.dtype_of_raw[x.dtype], device_of_raw(x, backend)
    target = source if place is None else place
    cast, moved = want is not None and want != own, target is not source
    if copy is False and (cast or moved):
        raise _no_copy(f"the array is {own!s} on {source} and shall be {want or own!s} on {target}")
    if cast and own.kind == "complex floating" and want.kind not in ("complex floating", "bool"):  # type: ignore[union-attr]
        raise DTypeError(
            f"asarray: a complex array cannot become a real one, but it is {own!s} and dtype is {want!s} (at "
            f"{user_site()}). "
            f"Take one part: af.real(x), af.imag(x) or af.abs(x)."
        )
    narrows = cast and _narrows(own, want, source)  # type: ignore[arg-type]
    if cast and (narrows or not moved):
        x = raw_astype(x, want, source)
    if moved:
        x = move(x, target, entry="asarray")
    if cast and moved and not narrows:
        x = raw_astype(x, want, target)
    if not (cast or moved) and (copy or (copy is None and backend.mutable)):
        x = backend.copy(x)
    return x


def _narrows(own: DType, want: DType, source: Device) -> bool:
    """Whether a cast shall come before a move: fewer bytes cross when it is on the side of the wider type."""
    return want.itemsize <= own.itemsize and want in source.backend.dtypes_on(source.native)


def default_dtype(value: Any, device: Device) -> DType:
    """The data type of a Python scalar that becomes an array by itself."""
    if isinstance(value, bool):
        return DTYPES["bool"]
    if isinstance(value, int):
        return default_integer(device)
    if isinstance(value, float):
        return config.dtype
    return complex128 if config.dtype == "float64" else complex64


def _of_python(x: Any, want: DType | None, place: Device | None, copy: bool | None) -> Variable:
    if isinstance(x, SCALARS):
        target = default_device() if place is None else place
        if copy is False:
            raise _no_copy("a Python number is no array")
        dtype = want or default_dtype(x, target)
        if isinstance(x, complex) and dtype.kind not in ("complex floating", "bool"):
            raise DTypeError(
                f"asarray: {x!r} cannot become {dtype!s} (at {user_site()}). Take one part: x.real, x.imag or abs(x)."
            )
        if isinstance(x, int):
            check_range("asarray", x, dtype)
        return _wrap(target.backend.create("full", target.native, (), x, dtype=dtype))
    if isinstance(x, (list, tuple, range)):
        if copy is False:
            raise _no_copy(f"a {type(x).__name__} is no array")
        x = list(x) if isinstance(x, range) else x
        inner = _first_array(x)
        if inner is not None:
            return _stacked(x, want, place, device_of_raw(inner))
        target = default_device() if place is None else place
        from ..backends._python import from_sequence

        host = from_sequence(x, want, config.dtype, default_integer(target))
        return _uploaded(host, want, target)
    target = default_device() if place is None else place
    if hasattr(x, "__array_interface__") or hasattr(x, "__array__") or _is_buffer(x):
        from ..backends._python import from_buffer

        host = from_buffer(x, copy)
        if copy is False and not (target.is_host and (want is None or host.dtype.name == want)):
            raise _no_copy(f"a {type(x).__name__} shall be {want or host.dtype} on {target}")
        return _uploaded(host, want, target)
    if hasattr(x, "__dlpack__"):
        return from_dlpack(x, device=place, copy=copy)
    raise _NoArrayError(
        f"asarray: a {type(x).__name__} is neither a number, a list of numbers, a buffer nor an array (at "
        f"{user_site()})."
    )


def _uploaded(host: Any, want: DType | None, target: Device) -> Variable:
    backend = registry.backend_of(host)
    own = backend.dtype_of_raw[host.dtype]  # type: ignore[union-attr]
    if want is not None and own != want:
        host = _of_array(host, backend, want, None, None)  # type: ignore[arg-type]
    return _wrap(move(host, target, entry="asarray"))


def _is_buffer(x: Any) -> bool:
    try:
        memoryview(x)
    except TypeError:
        return False
    return True


def _first_array(values: Any) -> Any:
    """The first array in a nested list that NumPy cannot take as it is: a Variable, or one that is not on the host."""
    for value in values:
        cls = value.__class__
        if cls is float or cls is int:
            continue
        found = None
        if cls is list or cls is tuple:
            found = _first_array(value)
        elif isinstance(value, Variable):
            found = value.array
        else:
            backend = registry.backend_of(value)
            if backend is not None and not backend.is_host and not isinstance(value, backend.scalar_types):
                found = value
        if found is not None:
            return found
    return None


def _stacked(values: Any, want: DType | None, place: Device | None, beside: Device) -> Variable:
    """Arrays and numbers joined; arrays move to `place` where the user named one, numbers are made beside them."""
    from .manipulation import stack

    parts = []
    for value in values:
        if isinstance(value, (list, tuple)) and len(value):
            parts.append(_stacked(value, want, place, beside))
        else:
            backend = registry.backend_of(as_raw(value))
            is_array = backend is not None and not isinstance(value, backend.scalar_types)
            parts.append(asarray(value, dtype=want, device=place or (None if is_array else beside)))
    return stack(parts)


# Device types of the DLPack protocol whose memory a backend of ours takes.
_DLPACK = {1: "cpu", 2: "cuda", 3: "cpu", 11: "cpu", 13: "cuda"}


def from_dlpack(x: Any, /, *, device: str | Device | None = None, copy: bool | None = None) -> Variable:
    """A Variable of an object with a ``__dlpack__`` method.

    Parameters
    ----------
    x : object
        An array of a library that arrayflow knows stays in it; for any other, NumPy takes memory on the host, CuPy that
        on an NVIDIA GPU.
    device : str or Device, optional
        Where to; by default where it is.
    copy : bool, optional
        As in `asarray`: None copies what others may write to, False shares memory.

    Returns
    -------
    Variable

    Raises
    ------
    BufferError
        If one side refuses the exchange; the message says which.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.from_dlpack(af.asarray([1.0, 2.0], device="cpu"))
    Variable([1., 2.], dtype=float32, device='cpu')
    """
    if isinstance(x, Variable) or registry.backend_of(x) is not None:
        return asarray(x, device=device, copy=copy)
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise _BufferError(
            f"from_dlpack: a {type(x).__name__} has no __dlpack__ and __dlpack_device__ (at {user_site()}). Use "
            f"af.asarray."
        )
    prefix = _DLPACK.get(int(x.__dlpack_device__()[0]))
    if prefix is None:
        raise _BufferError(
            f"from_dlpack: no backend takes memory of DLPack device {tuple(map(int, x.__dlpack_device__()))}, where "
            f"this "
            f"{type(x).__name__} is (at {user_site()}). Copy it to the host in its own library first."
        )
    backend = registry.get(prefix)
    try:
        raw = backend.xp.from_dlpack(x)
    except Exception as error:
        if copy is not False and hasattr(x, "__array__"):
            return asarray(registry.get("cpu").xp.asarray(x), device=device, copy=copy)
        raise _BufferError(
            f"from_dlpack: the exchange between {type(x).__name__} and {backend.packages[0]} failed: {error} (at "
            f"{user_site()}). "
            f"Copy it in its own library first."
        ) from error
    return asarray(raw, device=device, copy=copy)
