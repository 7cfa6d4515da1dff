"""The data types of the array API standard as values that belong to no library, and the one promotion table."""

from __future__ import annotations

import sys
from typing import Any, final

from .errors import DTypeError

__all__ = ["DType", "as_dtype", "promote"]

_BITS = {"bool": 8, "bfloat16": 16}


@final
class DType:
    """A data type: equal to its name and to every library's object for the same type.

    Attributes
    ----------
    name : str
        The standard's name: ``"float32"``.
    kind : str
        The standard's category: ``"real floating"``, ``"signed integer"`` and so on.
    bits, itemsize : int
        Bits and bytes of one element.

    Examples
    --------
    >>> import arrayflow as af
    >>> af.float32 == "float32", af.float32.itemsize, af.float32.kind
    (True, 4, 'real floating')
    """

    __slots__ = ("_hash", "bits", "itemsize", "kind", "name")

    name: str
    kind: str
    bits: int
    itemsize: int
    _hash: int

    def __new__(cls, name: str, kind: str = "") -> DType:
        if not kind:
            return as_dtype(name)
        self = super().__new__(cls)
        self.name = name
        self.kind = kind
        self.bits = _BITS.get(name) or int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        self.itemsize = self.bits // 8
        self._hash = hash(name)
        return self

    @property
    def dtype(self) -> Any:
        """NumPy's object for the type: what NumPy, and libraries that read types as it does, ask of a stranger."""
        return sys.modules["numpy"].dtype(self.name)

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    def __repr__(self) -> str:
        return f"arrayflow.{self.name}"

    def __reduce__(self) -> tuple[object, ...]:
        return as_dtype, (self.name,)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if other.__class__ is DType:
            return False
        return (other if isinstance(other, str) else _name_of(other)) == self.name

    def __hash__(self) -> int:
        return self._hash


_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float16", "bfloat16", "float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
DTYPES: dict[str, DType] = {n: DType(n, kind) for kind, names in _KINDS.items() for n in names}
# The categories that the standard's `isdtype` and `__array_namespace_info__().dtypes` know.
GROUPS: dict[str, tuple[DType, ...]] = {k: tuple(DTYPES[n] for n in names) for k, names in _KINDS.items()}
GROUPS["integral"] = GROUPS["signed integer"] + GROUPS["unsigned integer"]
GROUPS["numeric"] = GROUPS["integral"] + GROUPS["real floating"] + GROUPS["complex floating"]


def _name_of(dtype: object) -> str | None:
    """The standard's name of a library's dtype object; None where it is none."""
    if isinstance(dtype, type):  # numpy.float32, and Python's own bool, int, float
        name = dtype.__name__.rstrip("_")
    else:
        inner = getattr(dtype, "dtype", dtype)  # jax.numpy.float32 holds its dtype
        name = getattr(inner, "name", None) or str(inner).rsplit(".", 1)[-1]
    return name if isinstance(name, str) else None


def as_dtype(dtype: object) -> DType:
    """The `DType` that `dtype` means: a name, a library's dtype object, or Python's bool, int, float, complex.

    Raises
    ------
    DTypeError
        If it means none.
    """
    if dtype.__class__ is DType:
        return dtype
    if dtype is float or dtype is int or dtype is complex:
        return {float: DTYPES["float32"], int: DTYPES["int64"], complex: DTYPES["complex64"]}[dtype]
    name = dtype if isinstance(dtype, str) else _name_of(dtype)
    found = DTYPES.get(name) if name else None
    if found is None:
        raise DTypeError(f"{dtype!r} is no data type of the array API standard. Use one of {', '.join(DTYPES)}.")
    return found


def _build() -> dict[tuple[DType, DType], DType]:
    table: dict[tuple[DType, DType], DType] = {}

    def put(a: str, b: str, out: str) -> None:
        table[DTYPES[a], DTYPES[b]] = table[DTYPES[b], DTYPES[a]] = DTYPES[out]

    signed, unsigned = _KINDS["signed integer"], _KINDS["unsigned integer"]
    integral, real, complex_ = (*signed, *unsigned), _KINDS["real floating"], _KINDS["complex floating"]
    for name in DTYPES:
        put(name, name, name)
        put("bool", name, name)
    for group in (signed, unsigned):
        for i, a in enumerate(group):
            for b in group[i:]:
                put(a, b, b)
    for i, s in enumerate(signed):
        for j, u in enumerate(unsigned[:3]):  # uint64 with a signed type has no home: see promote()
            put(s, u, signed[max(i, j + 1)])
    for f in (*real, *complex_):
        for n in integral:
            put(n, f, f)
    put("float16", "bfloat16", "float32")
    for half in ("float16", "bfloat16"):
        put(half, "float32", "float32")
        put(half, "float64", "float64")
    put("float32", "float64", "float64")
    for f in real:
        put(f, "complex64", "complex128" if f == "float64" else "complex64")
        put(f, "complex128", "complex128")
    put("complex64", "complex128", "complex128")
    return table


PROMOTION = _build()


def promote(first: DType, second: DType) -> DType:
    """The data type that holds a result of two, the same on every backend.

    Within a kind it is the standard's table. An integer or boolean array takes the other's
    floating type, whatever its width; a boolean takes the other's type.

    Raises
    ------
    DTypeError
        For uint64 with a signed integer, for which no integer type is wide enough.
    """
    out = PROMOTION.get((first, second))
    if out is None:
        raise DTypeError(
            f"{first!s} and {second!s} have no common data type: no integer type holds both ranges. "
            f"Cast one of them first: af.astype(x, af.int64)."
        )
    return out
