"""What this namespace can do, and which namespace an array belongs to."""

from __future__ import annotations

from typing import Any

from ..autograd.operands import SCALARS, check_one_device
from ..autograd.variable import Variable, as_raw
from ..backends import registry
from ..config import config
from ..device import Device, default_device
from ..dtypes import GROUPS, DType
from ..errors import DTypeError, TransferError
from ..transfers import user_site
from .data_types import complex64, complex128, default_integer

__all__ = ["__array_api_version__", "__array_namespace_info__", "array_namespace"]

__array_api_version__ = "2025.12"
# What the standard names; 16-bit floats are there as well, and found by name.
_STANDARD = [*GROUPS["bool"], *(d for d in GROUPS["numeric"] if d not in ("float16", "bfloat16"))]


class Info:
    """What the standard asks of ``__array_namespace_info__()``."""

    def capabilities(self) -> dict[str, Any]:
        """What depends on the library: masks and shapes that depend on values are there, at the price of a read."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """The device of new arrays."""
        return default_device()

    def default_dtypes(self, *, device: str | Device | None = None) -> dict[str, DType]:
        """Data types of Python numbers, and of positions."""
        place = default_device() if device is None else Device(device)
        integer = default_integer(place)
        return {
            "real floating": config.dtype,
            "complex floating": complex128 if config.dtype == "float64" else complex64,
            "integral": integer,
            "indexing": integer,
        }

    def dtypes(self, *, device: str | Device | None = None, kind: Any = None) -> dict[str, DType]:
        """The data types that a device has, by name; of one kind or a tuple of kinds, or all."""
        place = default_device() if device is None else Device(device)
        has = place.backend.dtypes_on(place.native)
        kinds = (kind,) if isinstance(kind, str) else kind
        unknown = [k for k in kinds or () if k not in GROUPS]
        if unknown:
            raise DTypeError(f"dtypes: {unknown[0]!r} is no kind of data types. Use one of {', '.join(GROUPS)}.")
        wanted = _STANDARD if kinds is None else [d for d in _STANDARD if any(d in GROUPS[k] for k in kinds)]
        return {str(d): d for d in wanted if d in has}

    def devices(self) -> tuple[Device, ...]:
        """The devices of the default device's library. `arrayflow.devices` has all, and loads every library to tell."""
        return tuple(map(Device, default_device().backend.devices()))


def __array_namespace_info__() -> Info:  # noqa: N807  (the standard's name)
    """An object that tells what this namespace can do.

    Returns
    -------
    Info
        With methods ``capabilities``, ``default_device``, ``default_dtypes``, ``dtypes`` and ``devices``.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.__array_namespace_info__().dtypes(device="cpu", kind="real floating")
    {'float32': arrayflow.float32, 'float64': arrayflow.float64}
    """
    return Info()


def array_namespace(*arrays: Any) -> Any:
    """The namespace to compute with.

    Parameters
    ----------
    *arrays : array, Variable, Python scalar or None
        Scalars and None do not count.

    Returns
    -------
    namespace
        Where there is a Variable among them, `arrayflow.namespace`; else the array API namespace of the arrays'
        library.

    Raises
    ------
    TypeError
        If there is no array among them.
    DeviceMismatchError
        If they live on different devices.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.array_namespace(af.zeros((2,), device="cpu"), 1.0) is af.namespace
    True
    """
    if len(arrays) == 1 and isinstance(arrays[0], Variable):
        return _namespace()
    counted = [x for x in arrays if x is not None and not isinstance(x, SCALARS)]
    for x in counted:
        if registry.backend_of(as_raw(x)) is None:
            raise TransferError(
                f"array_namespace: a {type(x).__name__} is no array (at {user_site()}). Make it one: af.asarray(x, "
                f"device=...)."
            )
    if not counted:
        raise TransferError(
            f"array_namespace: there is no array among the arguments (at {user_site()}). Python scalars have no "
            f"namespace."
        )
    check_one_device("array_namespace", [f"arrays[{i}]" for i in range(len(counted))], counted)
    if any(isinstance(x, Variable) for x in counted):
        return _namespace()
    return registry.backend_of(counted[0]).xp  # type: ignore[union-attr]


def _namespace() -> Any:
    from .. import namespace

    return namespace
