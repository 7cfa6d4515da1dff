"""Links made of links: by name, by number, and in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableSequence
from typing import Any

from .link import Link, _structure

__all__ = ["Chain", "ChainList", "Sequential"]


class Chain(Link):
    """A link with named child links.

    Parameters
    ----------
    **links : Link
        Children by name; more are added by setting attributes.

    Examples
    --------
    >>> from arrayflow import links as L
    >>> model = L.Chain(encoder=L.Linear(8, 2, device="cpu"), decoder=L.Linear(2, 8, device="cpu"))
    >>> [path for path, _ in model.namedparams()]
    ['encoder.weight', 'encoder.bias', 'decoder.weight', 'decoder.bias']
    """

    def __init__(self, **links: Link) -> None:
        for name, link in links.items():
            if not isinstance(link, Link):
                raise TypeError(f"Chain: {name} must be a Link, but it is a {type(link).__name__}.")
            setattr(self, name, link)


class _Row(Link, MutableSequence[Any]):
    """Items that are numbered, from 0. The items that are links are children under their number."""

    _link_items: list[Any]

    def __init__(self, *items: Any) -> None:
        self._link_items = []
        self.extend(items)

    def _check(self, item: Any) -> Any:
        raise TypeError(f"{type(self).__name__} takes no items.")

    def _members(self) -> Iterator[tuple[str, Any]]:
        yield from super()._members()
        for i, item in enumerate(self._link_items):
            yield str(i), item

    def _change(self, items: list[Any]) -> None:
        """Hold these items in the place of the old ones."""
        for i, item in enumerate(self._link_items):
            self._release(str(i), item)
        self._link_items = items
        for i, item in enumerate(items):
            self._adopt(str(i), item)
        _structure[0] += 1

    def __len__(self) -> int:
        return len(self._link_items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._link_items)

    def __getitem__(self, index: Any) -> Any:
        """One item, or for a slice a container of the same kind that shares them."""
        if isinstance(index, slice):
            out = type(self).__new__(type(self))
            out._link_items = []
            out.extend(self._link_items[index])
            return out
        return self._link_items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        items = list(self._link_items)
        items[index] = [self._check(v) for v in value] if isinstance(index, slice) else self._check(value)
        self._change(items)

    def __delitem__(self, index: Any) -> None:
        items = list(self._link_items)
        del items[index]
        self._change(items)

    def insert(self, index: int, value: Any) -> None:
        """Put an item before the one at `index`."""
        items = list(self._link_items)
        items.insert(index, self._check(value))
        self._change(items)

    def extend(self, values: Iterable[Any]) -> None:
        """Add items at the end."""
        self._change([*self._link_items, *(self._check(v) for v in values)])

    def append(self, value: Any) -> None:
        """Add an item at the end."""
        self.extend((value,))


class ChainList(_Row):
    """A list of links, named by their number.

    A Python list in an attribute registers nothing; a ChainList does. It is indexed, sliced and iterated like one.

    Parameters
    ----------
    *links : Link
        The items.

    Examples
    --------
    >>> from arrayflow import links as L
    >>> class Tower(L.Link):
    ...     def __init__(self, depth):
    ...         self.layers = L.ChainList(*(L.Linear(4, 4, device="cpu") for _ in range(depth)))
    ...
    ...     def forward(self, x):
    ...         for layer in self.layers:
    ...             x = layer(x)
    ...         return x
    >>> [path for path, _ in Tower(2).namedparams()]
    ['layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'layers.1.bias']
    """

    def _check(self, item: Any) -> Link:
        if not isinstance(item, Link):
            raise TypeError(
                f"{type(self).__name__}: item {len(self)} must be a Link, but it is a {type(item).__name__}. "
                f"Functions go into a Sequential."
            )
        return item

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """A ChainList is no function: its owner says in which order its links are called."""
        raise TypeError("A ChainList cannot be called. Call its links one by one, or use a Sequential.")


class Sequential(_Row):
    """Links and functions called one after the other.

    Parameters
    ----------
    *layers : Link or callable
        Each is called with what the one before it returned. They are numbered from 0, functions too: the parameters of
        ``Sequential(Linear, relu, Linear)`` are ``0.weight, 0.bias, 2.weight, 2.bias``.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow import functions as F, links as L
    >>> model = L.Sequential(L.Linear(4, 3, device="cpu"), F.relu, L.Linear(2, device="cpu"))
    >>> model(af.ones((5, 4), device="cpu")).shape
    (5, 2)
    >>> model
    Sequential(
      (0): Linear(in_features=4, out_features=3)
      (1): relu
      (2): Linear(in_features=3, out_features=2)
    )
    """

    def _check(self, item: Any) -> Callable[..., Any]:
        if isinstance(item, type):
            name = item.__name__
            raise TypeError(f"Sequential: layer {len(self)} is the class {name}. Make one: {name}(...).")
        if not callable(item):
            raise TypeError(
                f"Sequential: layer {len(self)} must be a Link or a function, but it is a {type(item).__name__}. "
                f"A list of layers? Unpack it: Sequential(*layers)."
            )
        return item

    def forward(self, x: Any) -> Any:
        """What the last layer returns."""
        for layer in self._link_items:
            x = layer(x)
        return x
