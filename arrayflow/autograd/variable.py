"""`Variable`: an array, and where in the graph it stands. Its operators are put on by `arrayflow.namespace`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backends import registry
from ..device import Device, device_of_raw, move_or_copy, to_host
from ..dtypes import DType
from ..errors import GraphError, ShapeError, TransferError
from ..transfers import Kind

if TYPE_CHECKING:
    from .tape import Node

__all__ = ["Variable", "as_raw"]


class Variable:
    """An array that remembers how it was computed; itself an array of the array API standard.

    Parameters
    ----------
    array : array
        A raw array of any library. It is used as it is, not copied: `arrayflow.asarray` copies.
    requires_grad : bool
        Whether `backward` shall leave a gradient here.

    Attributes
    ----------
    array : array
        The raw array, where it lives.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.asarray([1.0, 2.0, 3.0], device="cpu", requires_grad=True)
    >>> af.sum(x * x).backward()
    >>> x.grad
    Variable([2., 4., 6.], dtype=float32, device='cpu')
    """

    __slots__ = ("__weakref__", "_grad", "_node", "array")

    array: Any
    # Where it stands: None is a constant, True a leaf that wants a gradient, a Node a result.
    _node: Node | bool | None
    _grad: Any

    # NumPy's own operators step aside for ours: array * variable comes here, where the data is.
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, array: Any, requires_grad: bool = False) -> None:
        if isinstance(array, Variable):
            array = array.array
        backend = registry.backend_of(array)
        if backend is None:
            raise TransferError(
                f"Variable: a {type(array).__name__} is no array of a library that arrayflow knows. "
                f"For Python numbers and lists use af.asarray(x, device=...)."
            )
        self.array = backend.adopt(array)
        self._node = None
        self._grad = None
        if requires_grad:
            self.requires_grad = True

    # --- facts ----------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Length along each axis."""
        return tuple(self.array.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.array.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        n = 1
        for length in self.array.shape:
            n *= length
        return n

    @property
    def dtype(self) -> DType:
        """Data type, the same object on every device."""
        raw = self.array
        backend = registry.backend_of(raw)
        return backend.dtype_of_raw[raw.dtype]  # type: ignore[union-attr]

    @property
    def device(self) -> Device:
        """Where the array lives."""
        return device_of_raw(self.array)

    @property
    def nbytes(self) -> int:
        """Bytes that the values take."""
        return self.size * self.dtype.itemsize

    # --- the graph ------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients reach it. It can be set on a Variable that is no result."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if self._node is not None and self._node is not True:
            raise GraphError("requires_grad cannot be set on a result. Use y = x.detach() to cut it from its graph.")
        if flag and self.dtype.kind not in ("real floating", "complex floating"):
            raise TypeError(
                f"requires_grad: only floating arrays have gradients, but the dtype is {self.dtype!s}. "
                f"Cast first: af.astype(x, af.float32)."
            )
        self._node = True if flag else None

    @property
    def is_leaf(self) -> bool:
        """Whether it is no result of a recorded operation."""
        return self._node is None or self._node is True

    @property
    def grad(self) -> Variable | None:
        """The gradient that `backward` left here, summed over calls; None before and after `cleargrad`."""
        g = self._grad
        if g is None or isinstance(g, Variable):
            return g
        return _wrap(g)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            raw = as_raw(value)
            backend = registry.backend_of(raw)
            if backend is None:
                raise TransferError(f"grad is an array, a Variable or None, but a {type(value).__name__} was given.")
            if tuple(raw.shape) != self.shape:
                raise ShapeError(f"grad: the gradient's shape {tuple(raw.shape)} must be the Variable's, {self.shape}.")
            if device_of_raw(raw) is not self.device:
                raise TransferError(
                    f"grad: the gradient is on {device_of_raw(raw)}, the Variable on {self.device}. "
                    f"Move it: af.to_device(g, {str(self.device)!r})."
                )
            value = value if isinstance(value, Variable) else backend.adopt(raw)
        self._grad = value

    def _fill(self, rule: Any, g: Any, saved: Any) -> Any:
        """Apply a rule that could write into a buffer. A plain Variable has none."""
        return rule(g, *saved, None)

    def _lend(self) -> None:
        """Note that somebody holds the last gradient. A plain Variable writes into none."""

    def _accumulate(self, g: Any) -> None:
        """Add what a sweep brought to this leaf."""
        if g.__class__ is not self.array.__class__ and not isinstance(g, Variable):
            g = registry.backend_of(g).as_array(g)  # type: ignore[union-attr]
        before = self._grad
        if before is not None:
            g = before + g if isinstance(before, Variable) or not isinstance(g, Variable) else g + before
        _set_grad(self, g)

    def cleargrad(self) -> None:
        """Forget the gradient."""
        _set_grad(self, None)

    def retain_grad(self) -> Variable:
        """Ask `backward` to leave a gradient on this result too; returns the Variable itself."""
        node = self._node
        if node is None:
            raise GraphError("retain_grad: this Variable needs no gradient. Set requires_grad on an input first.")
        if node is not True:
            node.retain(self)  # type: ignore[union-attr]
        return self

    def detach(self) -> Variable:
        """The same values as a constant: no gradient passes."""
        return _wrap(self.array)

    def backward(self, grad: Any = None, *, retain_graph: bool = False, create_graph: bool = False) -> None:
        """Leave on every leaf that requires it the gradient of this Variable.

        Parameters
        ----------
        grad : array or Variable, optional
            The cotangent, of this Variable's shape; ones by default, which a 0-d Variable alone allows.
        retain_graph : bool
            Keep the graph for another call. By default it is freed.
        create_graph : bool
            Record the sweep itself, so that gradients can be differentiated again; implies `retain_graph`.

        Raises
        ------
        GraphError
            If nothing here requires a gradient, or the graph was freed.
        ShapeError
            If `grad` is missing for a Variable that is not 0-d, or has another shape.
        """
        _tape.backward((self,), (grad,), retain_graph=retain_graph, create_graph=create_graph)

    # --- reading and moving ---------------------------------------------------------------------

    def __to_device__(self, device: Device, copy: bool | None) -> Variable:
        from .moving import move_variable

        return move_variable(self, device, copy)

    def to_device(self, device: str | Device, /, *, stream: Any = None) -> Variable:
        """The values on another device, as a new Variable; the gradient travels back. See `arrayflow.to_device`."""
        if stream is not None:
            raise TransferError("to_device: stream is not supported. Order follows the device's own stream.")
        return self.__to_device__(Device(device), None)

    def _host(self, kind: Kind, entry: str) -> Any:
        return to_host(self.array, kind=kind, entry=entry)

    def numpy(self) -> Any:
        """The values as a NumPy array of its own, an explicit read."""
        host = self._host("explicit", "numpy()")
        return move_or_copy(host, Device("cpu"), True) if host is self.array else host

    def item(self) -> bool | int | float | complex:
        """The value of a Variable of one element as a Python number, an explicit read.

        Raises
        ------
        ShapeError
            If it has not exactly one element.
        """
        return self._scalar("explicit", "item()")

    def _scalar(self, kind: Kind, entry: str) -> Any:
        if self.size != 1:
            raise ShapeError(
                f"{entry}: only a Variable of one element is a number, but the shape is {self.shape}. "
                f"All values: x.numpy(). One of them: x[i].item()."
            )
        return self._host(kind, entry).item()

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.is_leaf:
            raise GraphError("A result cannot be pickled or copied with its graph. Use x.detach().")
        return _restore, (self._host("explicit", "pickle"), str(self.device), self.requires_grad)

    def __copy__(self) -> Variable:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        if not self.is_leaf:
            raise GraphError("A result cannot be copied with its graph. Use af.asarray(x, copy=True) or x.detach().")
        out = _wrap(move_or_copy(self.array, self.device, True))
        out._node = self._node
        memo[id(self)] = out
        return out

    # == is elementwise; identity keeps Variables apart as keys and in sets.
    __hash__ = object.__hash__

    if TYPE_CHECKING:  # put on at run time by arrayflow.namespace.operators

        def __add__(self, other: Any) -> Variable: ...
        def __radd__(self, other: Any) -> Variable: ...
        def __sub__(self, other: Any) -> Variable: ...
        def __rsub__(self, other: Any) -> Variable: ...
        def __mul__(self, other: Any) -> Variable: ...
        def __rmul__(self, other: Any) -> Variable: ...
        def __truediv__(self, other: Any) -> Variable: ...
        def __rtruediv__(self, other: Any) -> Variable: ...
        def __pow__(self, other: Any) -> Variable: ...
        def __matmul__(self, other: Any) -> Variable: ...
        def __neg__(self) -> Variable: ...
        def __lt__(self, other: Any) -> Variable: ...
        def __gt__(self, other: Any) -> Variable: ...
        def __le__(self, other: Any) -> Variable: ...
        def __ge__(self, other: Any) -> Variable: ...
        def __getitem__(self, key: Any) -> Variable: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
        def __float__(self) -> float: ...
        def __int__(self) -> int: ...
        def __bool__(self) -> bool: ...
        def __len__(self) -> int: ...


# The tape stands above and is imported with it, below.
_tape: Any = None

_new = object.__new__
# Past the checks that a subclass may make on assignment.
_set_grad = Variable.__dict__["_grad"].__set__


def _wrap(array: Any) -> Variable:
    out = _new(Variable)
    out.array = array
    out._node = None
    out._grad = None
    return out


def as_raw(x: Any) -> Any:
    """The raw array of a Variable; anything else as it is."""
    return x.array if isinstance(x, Variable) else x


def _restore(host: Any, device: str, requires_grad: bool) -> Variable:
    from ..device import move

    return Variable(move(host, Device(device), entry="unpickle"), requires_grad)
