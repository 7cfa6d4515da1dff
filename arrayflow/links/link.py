"""`Link`: a function that owns parameters. What it owns is what its attributes hold."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from ..autograd.variable import Variable
from ..device import Device
from ..slots import Slot
from . import _moving, _state
from .parameter import Parameter

__all__ = ["Link"]

_clear = Variable._grad.__set__  # type: ignore[misc]
# How the names begin of attributes that hold nothing of the user's.
_OWN = "_link_"
# Counts registrations in all links, so that a list of parameters kept from before can be known as old.
_structure = [0]


class Link:
    """Base class of layers and models: a callable that owns parameters, buffers and other links.

    An attribute that is set to a `Parameter` or a `Link` belongs to the model from then on, and no longer when it is
    deleted or replaced. The same Parameter under two attributes is one: tied weights. Arrays that are not trained are
    registered with `register_buffer`. Links in a list go into a `ChainList` or `Sequential`, not into a Python list.

    A subclass defines ``forward``; calling the link calls it.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F, initializers, links as L
    >>> class Scale(L.Link):
    ...     def __init__(self, n):
    ...         self.factor = af.Parameter(initializers.Ones(), (n,), device="cpu")
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> model = L.Sequential(Scale(3), F.relu)
    >>> [path for path, parameter in model.namedparams()]
    ['0.factor']
    >>> model(af.asarray([-1.0, 0.0, 2.0], device="cpu"))
    Variable([0., 0., 2.], dtype=float32, device='cpu')
    """

    # Defaults on the class, so that a subclass need not call super().__init__().
    _link_parent: weakref.ref[Link] | None = None
    _link_name = ""
    _link_buffers: tuple[str, ...] = ()
    _link_place: Device | None = None
    _link_cache: tuple[int, tuple[Parameter, ...]] = (-1, ())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What calling the link computes; a subclass defines it."""
        raise TypeError(f"{type(self).__name__} cannot be called: the class defines no forward(self, x).")

    # --- registration ---------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith(_OWN):
            object.__setattr__(self, name, value)
            return
        if isinstance(value, (Parameter, Link)):
            _state.check_name(type(self), name, Link)
        if name in self._link_buffers:
            if isinstance(value, (Parameter, Link)):
                self._link_buffers = tuple(n for n in self._link_buffers if n != name)
            else:
                value = self._as_buffer(name, value)
        old = self.__dict__.get(name)
        _state.check_replacement(type(self), name, old, value)
        if old is not value:
            self._release(name, old)
            self._adopt(name, value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        old = self.__dict__.get(name)
        object.__delattr__(self, name)
        self._link_buffers = tuple(n for n in self._link_buffers if n != name)
        self._release(name, old)

    def _adopt(self, name: str, value: Any) -> None:
        """Make this link the owner of a parameter or link that has none."""
        if isinstance(value, Parameter):
            owner = None if value._owner is None else value._owner()
            if owner is None:
                value._owner = weakref.ref(self)
                value.name = name
        elif isinstance(value, Link):
            if any(link is self for link in value.links()):
                raise ValueError(
                    f"{type(self).__name__}.{name}: a link cannot hold itself or a link that it is part of. "
                    f"To share parameters, assign the parameter: self.weight = other.weight."
                )
            parent = None if value._link_parent is None else value._link_parent()
            if parent is None:
                value._link_parent = weakref.ref(self)
                value._link_name = name
        else:
            return
        _structure[0] += 1
        if self._link_place is not None:
            # What has no values yet is created where its siblings are.
            for p in (value,) if isinstance(value, Parameter) else value.params():
                if p._initializer is not None:
                    p._device = self._link_place

    def _release(self, name: str, old: Any) -> None:
        if isinstance(old, Parameter):
            if old._owner is not None and old._owner() is self and old.name == name:
                old._owner = None
        elif isinstance(old, Link):
            if old._link_parent is not None and old._link_parent() is self and old._link_name == name:
                old._link_parent = None
        else:
            return
        _structure[0] += 1

    def _line(self) -> Iterator[Link]:
        """This link, the one that holds it, and so on outwards."""
        link: Link | None = self
        while link is not None:
            yield link
            link = None if link._link_parent is None else link._link_parent()

    def _path(self) -> str:
        held = [link for link in self._line() if link._link_parent is not None and link._link_parent() is not None]
        return ".".join(link._link_name for link in reversed(held))

    @property
    def path(self) -> str:
        """Dotted path from the outermost link down: ``layers.1``; empty for the outermost."""
        return self._path()

    def register_buffer(self, name: str, array: Any) -> None:
        """Own an array that is not trained, such as running statistics or a table: it moves and is saved.

        Parameters
        ----------
        name : str
            The attribute under which it is read and replaced, as a Variable that needs no gradient.
        array : array, Variable or None
            Its value, which is copied; None while there is none.

        Raises
        ------
        TypeError
            If it is no array.
        DeviceMismatchError
            When it is replaced later by an array of another device. Nothing is changed.

        Examples
        --------
        >>> import arrayflow as af
        >>> from arrayflow import links as L
        >>> link = L.Link()
        >>> link.register_buffer("mean", af.zeros((2,), device="cpu"))
        >>> link.mean = link.mean + 1
        >>> dict(link.namedbuffers())
        {'mean': array([1., 1.], dtype=float32)}
        """
        _state.check_name(type(self), name, Link)
        value = self._as_buffer(name, array)
        if name not in self._link_buffers:
            self._link_buffers = (*self._link_buffers, name)
        self._release(name, self.__dict__.get(name))
        object.__setattr__(self, name, value)

    def _as_buffer(self, name: str, value: Any) -> Variable | None:
        old = self.__dict__.get(name) if name in self._link_buffers else None
        return _state.as_buffer(f"{self._path()}.{name}".lstrip("."), value, old)

    @contextmanager
    def init_scope(self) -> Iterator[None]:
        """Does nothing: attributes are registered wherever they are set. For programs written for Chainer."""
        yield

    # --- what it holds --------------------------------------------------------------------------

    def _members(self) -> Iterator[tuple[str, Any]]:
        """Name and value of everything held; containers add their items."""
        for name, value in tuple(self.__dict__.items()):
            if not name.startswith(_OWN):
                yield name, value

    def _walk(self, path: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Link]]:
        """Path and link, this one first; with `seen`, each link once, else once for each of its paths."""
        if seen is not None:
            if id(self) in seen:
                return
            seen.add(id(self))
        yield path, self
        for name, value in self._members():
            if isinstance(value, Link):
                if value._link_parent is None or value._link_parent() is None:
                    self._adopt(name, value)
                yield from value._walk(f"{path}.{name}" if path else name, seen)

    def _all_params(self) -> Iterator[tuple[str, Parameter]]:
        """Path and parameter, once for each path: tied ones come several times."""
        for path, link in self._walk():
            for name, value in link._members():
                if isinstance(value, Parameter):
                    if value._owner is None or value._owner() is None:
                        link._adopt(name, value)
                    yield f"{path}.{name}" if path else name, value

    def namedparams(self) -> Iterator[tuple[str, Parameter]]:
        """Dotted path and Parameter, each Parameter once, under its first path.

        Examples
        --------
        >>> from arrayflow import links as L
        >>> model = L.Sequential(L.Linear(2, 3, device="cpu"), L.Linear(3, 1, device="cpu"))
        >>> [path for path, _ in model.namedparams()]
        ['0.weight', '0.bias', '1.weight', '1.bias']
        """
        seen: set[int] = set()
        for path, p in self._all_params():
            if id(p) not in seen:
                seen.add(id(p))
                yield path, p

    def params(self) -> tuple[Parameter, ...]:
        """The Parameters, each once."""
        version, found = self._link_cache
        if version != _structure[0]:
            found = tuple(p for _, p in self.namedparams())
            self._link_cache = _structure[0], found
        return found

    def namedlinks(self) -> Iterator[tuple[str, Link]]:
        """Dotted path and Link, each once: this one first, under the empty path."""
        return self._walk(seen=set())

    def links(self) -> Iterator[Link]:
        """This link and all below it, each once."""
        return (link for _, link in self.namedlinks())

    def children(self) -> Iterator[Link]:
        """The links held directly, in order."""
        return (value for _, value in self._members() if isinstance(value, Link))

    def namedbuffers(self) -> Iterator[tuple[str, Any]]:
        """Dotted path and raw array of each buffer that has a value."""
        for path, _, _, value in self._all_buffers():
            if value is not None:
                yield path, value.array

    def _all_buffers(self) -> Iterator[tuple[str, Link, str, Variable | None]]:
        """Path, link, name and value of each buffer."""
        for path, link in self._walk(seen=set()):
            for name in link._link_buffers:
                yield f"{path}.{name}" if path else name, link, name, link.__dict__[name]

    def cleargrads(self) -> None:
        """Forget the gradients of all parameters."""
        for p in self.params():
            _clear(p, None)

    # --- places ---------------------------------------------------------------------------------

    @property
    def device(self) -> Device | None:
        """Where its parameters and buffers live; None where it holds none.

        Raises
        ------
        DeviceMismatchError
            If they live on different devices; the message has the path of two.
        """
        return _moving.device_of_link(self)

    def to_device(self, device: str | Device) -> Link:
        """Move parameters, gradients, buffers, and the optimizers' state for them, in place.

        Parameters are the same objects before and after, so optimizers and tied weights stay what they were. Arrays are
        moved one by one, each old copy freed before the next is made. What has no values yet is created there later.

        Parameters
        ----------
        device : str or Device
            Where to.

        Returns
        -------
        Link
            This one.

        Raises
        ------
        UnregisteredArrayError
            If an attribute, or a list, tuple or dict in one, holds an array or a link that is not registered: it would
            be left behind. The message has its path. Nothing has been moved.
        DTypeError
            If the device lacks the data type of a parameter or buffer. Nothing has been moved.

        Examples
        --------
        >>> import arrayflow as af
        >>> from arrayflow import links as L
        >>> model = L.Linear(3, 2, device="cpu").to_device("strict:device1")
        >>> model.device, model.weight.device
        (Device('strict:device1'), Device('strict:device1'))
        """
        _moving.move_link(self, Device(device))
        return self

    def __to_device__(self, device: Device, copy: bool | None) -> Link:
        link = self.copy() if copy else self
        _moving.move_link(link, device, copy)
        return link

    # --- state ----------------------------------------------------------------------------------

    def _check_shape(self, name: str, shape: tuple[int, ...]) -> str | None:
        """Why a first value of `shape` does not fit the parameter `name`, in words; None where it does."""
        return None

    def _state_slots(self) -> dict[str, Slot]:
        """What a file holds of this link: its parameters and buffers by path."""
        return _state.slots(self)

    def state_dict(self) -> dict[str, Variable | None]:
        """A snapshot: path to a copy of each parameter and buffer, where it lives.

        Tied parameters are there once. A parameter whose shape is not known yet is None.

        Examples
        --------
        >>> from arrayflow import links as L
        >>> {path: value.shape for path, value in L.Linear(3, 2, device="cpu").state_dict().items()}
        {'weight': (2, 3), 'bias': (2,)}
        """
        return _state.snapshot(self)

    def load_state_dict(self, state: dict[str, Any], strict: bool = True) -> None:
        """Copy the values of `state_dict` into this link: all of them, or none and an error.

        Parameters
        ----------
        state : dict
            Path to Variable or array on any device; each value goes where its destination lives.
        strict : bool
            Whether missing and unexpected paths are errors.

        Raises
        ------
        StateMismatchError
            If anything is missing, unexpected, or of another shape or data type; it lists all of it.
        """
        _state.load(self, state, strict)

    # --- copies ---------------------------------------------------------------------------------

    def copy(self) -> Link:
        """An independent copy with arrays of its own, where this one lives. What was tied is tied in the copy."""
        return deepcopy(self)

    def __copy__(self) -> Link:
        return deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Link:
        out = type(self).__new__(type(self))
        memo[id(self)] = out
        out.__setstate__({k: deepcopy(v, memo) for k, v in self.__getstate__().items()})
        return out

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_link_parent", "_link_cache", "_link_name")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name, value in self._members():
            self._adopt(name, value)

    # --- text -----------------------------------------------------------------------------------

    def _facts(self) -> str:
        """What stands in the brackets of ``repr``."""
        return ""

    def __repr__(self) -> str:
        inner = [
            f"({name}): {getattr(value, '__name__', None) or repr(value)}".replace("\n", "\n  ")
            for name, value in self._members()
            if isinstance(value, Link) or name.isdecimal()
        ]
        head = f"{type(self).__name__}({self._facts()}"
        return f"{head}\n  " + "\n  ".join(inner) + "\n)" if inner else f"{head})"
