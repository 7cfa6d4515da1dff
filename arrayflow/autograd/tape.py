"""The graph and the sweep over it. A node holds what its rules named, and nothing that leads back to itself."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from ..backends import registry
from ..config import backprop_enabled
from ..device import device_of_raw
from ..errors import DeviceMismatchError, GraphError, ShapeError
from ..transfers import user_site
from . import variable as _variable
from .variable import Variable, _set_grad, _wrap, as_raw

if TYPE_CHECKING:
    from .primitive import Primitive

__all__ = ["Node", "Output", "backward", "clock", "gradients"]

_next_id = count().__next__
_by_id = attrgetter("id")


class Clock:
    """When a Parameter was last written in place, on the counter that numbers nodes: a graph older than it can tell."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = -1

    def tick(self) -> int:
        """Note a write, and return its number."""
        self.last = _next_id()
        return self.last


clock = Clock()


class Node:
    """One recorded operation.

    ``parents[i]`` is where operand i stands: a Node, a leaf Variable, or None for a constant.
    ``saved[i]`` holds what the rule of operand i names, as raw arrays. ``fix[i]`` is None, or the
    operand's shape and dtype where its gradient must be summed or cast back to them.
    """

    __slots__ = ("fix", "id", "parents", "primitive", "saved", "wanted")

    parents: tuple[Any, ...] | None
    wanted: Any

    def __init__(self, primitive: Primitive, parents: tuple[Any, ...], saved: Any, fix: Any) -> None:
        self.primitive = primitive
        self.parents = parents
        self.saved = saved
        self.fix = fix
        self.id = _next_id()
        self.wanted = None

    def retain(self, variable: Variable) -> None:
        """Leave the gradient on `variable` when the sweep passes; weakly, so that no cycle arises."""
        self.wanted = weakref.ref(variable)


class Output(Node):
    """One output of an operation that has several: its parent is the operation's node."""

    __slots__ = ("count", "index")

    gather: ClassVar[Primitive]

    def __init__(self, node: Node, index: int, count: int) -> None:
        super().__init__(Output.gather, (node,), (None,), (None,))
        self.index = index
        self.count = count


def _nodes_behind(vertices: Iterable[Any]) -> list[Node]:
    """All nodes that `vertices` lead back to, the newest first: an order in which none precedes its users."""
    last = clock.last
    stack = [v for v in vertices if isinstance(v, Node)]
    if len(stack) == 1:
        chain = _chain_behind(stack[0], last)
        if chain is not None:
            return chain
    seen: set[Node] = set(stack)
    while stack:
        node = stack.pop()
        if node.parents is None:
            raise _freed(node)
        if node.id < last:
            _check_unchanged(node)
        for parent in node.parents:
            if (parent.__class__ is Node or parent.__class__ is Output) and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return sorted(seen, key=_by_id, reverse=True)


def _chain_behind(node: Node | None, last: int) -> list[Node] | None:
    """The nodes behind one, where each has at most one that leads on: they need no sorting. Else None."""
    chain = []
    while node is not None:
        parents = node.parents
        if parents is None:
            raise _freed(node)
        if node.id < last:
            _check_unchanged(node)
        chain.append(node)
        node = None
        for parent in parents:
            if (parent.__class__ is Node or parent.__class__ is Output) and parent is not node:
                if node is not None:
                    return None
                node = parent
    return chain


def _freed(node: Node) -> GraphError:
    return GraphError(
        f"backward: the graph behind {node.primitive.name}() was freed by an earlier backward() "
        f"(at {user_site()}). Pass retain_graph=True to the earlier call, or compute the result again."
    )


def _check_unchanged(node: Node) -> None:
    for parent in node.parents or ():
        if getattr(parent, "_changed", -1) > node.id:
            raise GraphError(
                f"backward: {parent.path!r} was changed in place by an optimizer, or moved, after "
                f"{node.primitive.name}() used it (at {user_site()}), so its gradient would be wrong. Call backward() "
                f"before update() and to_device(), or compute the result again."
            )


def _sweep(order: list[Node], grads: dict[Any, Any], create_graph: bool, retain_graph: bool, keep: set[Any]) -> None:
    """Carry `grads`, by vertex, down through the nodes of `order`; what stays in it are the leaves' and `keep`'s."""
    for node in order:
        g = grads.get(node) if keep and node in keep else grads.pop(node, None)
        if g is not None:
            if node.wanted is not None:
                variable = node.wanted()
                if variable is not None:
                    variable._grad = g if variable._grad is None else variable._grad + g
            node.primitive.pull(node, g, grads, create_graph)
        if not retain_graph:
            node.parents = node.saved = node.fix = None


def _cotangent(output: Variable, given: Any, create_graph: bool) -> Any:
    if given is None:
        if output.size != 1:
            raise ShapeError(
                f"backward: a Variable of shape {output.shape} needs its cotangent; only one of a single element has "
                f"ones by default. Reduce it, af.sum(y).backward(), or pass y.backward(grad) with grad of that shape."
            )
        if create_graph:
            device = output.device
            return _wrap(device.backend.create("ones", device.native, output.shape, dtype=output.dtype))
        return _ones(output)
    raw, device = output.array, output.device
    backend = device.backend
    g = as_raw(given)
    found = registry.backend_of(g)
    if found is not backend or device_of_raw(g) is not device:
        if found is None or isinstance(g, found.scalar_types):
            where, way_out = f"a {type(g).__name__}", "Make it an array: af.asarray(grad, device="
        else:
            where, way_out = f"on {device_of_raw(g)}", "Move it: af.to_device(grad, "
        raise DeviceMismatchError(
            f"backward: the cotangent is {where}, but the output is on {device} (at {user_site()}). "
            f"{way_out}{str(device)!r})."
        )
    if tuple(g.shape) != output.shape:
        raise ShapeError(f"backward: the cotangent's shape {tuple(g.shape)} must be the output's, {output.shape}.")
    if g.dtype != raw.dtype:
        g = device.backend.op("astype")(g, raw.dtype)
    if create_graph:
        return given if isinstance(given, Variable) and given.array is g else _wrap(g)
    return device.backend.copy(g)  # a leaf may keep it, so it must not be the caller's


def _ones(output: Variable) -> Any:
    """Ones of an output of one element: one array for all, as long as no Variable will hold it."""
    raw, node = output.array, output._node
    backend: Any = registry.backend_of(raw)
    native = backend.key(raw)
    if raw.shape != () or node is True or node.wanted is not None:  # type: ignore[union-attr]
        return backend.create("ones", native, output.shape, dtype=output.dtype)
    key = (backend.prefix, native, raw.dtype)
    found = _ONES.get(key)
    if found is None:
        found = _ONES[key] = backend.create("ones", native, (), dtype=output.dtype)
    return found


_ONES: dict[tuple[Any, ...], Any] = {}


def _own(g: Any) -> Any:
    """A gradient that a leaf may keep: the ones that all sweeps share are copied."""
    if g.shape == () and not isinstance(g, Variable):
        for shared in _ONES.values():
            if g is shared:
                return registry.backend_of(g).copy(g)  # type: ignore[union-attr]
    return g


def _seed(outputs: Sequence[Any], cotangents: Sequence[Any], create_graph: bool) -> dict[Any, Any]:
    if len(outputs) != len(cotangents):
        raise GraphError(f"backward: {len(outputs)} outputs need as many cotangents, but {len(cotangents)} were given.")
    grads: dict[Any, Any] = {}
    for output, given in zip(outputs, cotangents, strict=True):
        if not isinstance(output, Variable):
            raise GraphError(f"backward: an output must be a Variable, but it is a {type(output).__name__}.")
        if output._node is None:
            raise GraphError(
                f"backward: this Variable of shape {output.shape} needs no gradient: no input had requires_grad, or it "
                f"was computed under af.no_grad() (at {user_site()})."
            )
        vertex = _vertex(output)
        g = _cotangent(output, given, create_graph)
        grads[vertex] = g if vertex not in grads else grads[vertex] + g
    return grads


def _vertex(variable: Variable) -> Any:
    return variable if variable._node is True else variable._node


def _on_device(output: Variable) -> Any:
    raw = output.array
    backend: Any = registry.backend_of(raw)
    return backend.context(backend.key(raw)) or _NO_CONTEXT


_NO_CONTEXT = nullcontext()


def backward(
    outputs: Sequence[Variable],
    grads: Sequence[Any] | None = None,
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> None:
    """Leave on every leaf that requires it the gradient of ``sum(sum(g * y) for y, g in zip(outputs, grads))``.

    Parameters
    ----------
    outputs : sequence of Variable
        Results, of one graph or of several.
    grads : sequence of array, Variable or None, optional
        A cotangent for each; None stands for ones, for an output of one element.
    retain_graph : bool
        Keep the graph for another call. By default it is freed.
    create_graph : bool
        Record the sweep itself, so that gradients can be differentiated again; implies `retain_graph`.

    Raises
    ------
    GraphError
        If an output needs no gradient, or its graph was freed.
    ShapeError, DeviceMismatchError
        If a cotangent does not fit its output. Nothing was changed.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.asarray([1.0, 2.0], device="cpu", requires_grad=True)
    >>> af.backward([x * 2, x * x], [af.ones((2,), device="cpu"), af.ones((2,), device="cpu")])
    >>> x.grad
    Variable([4., 6.], dtype=float32, device='cpu')
    """
    if outputs.__class__ is not tuple:
        outputs = tuple(outputs)
    found = _seed(outputs, (None,) * len(outputs) if grads is None else tuple(grads), create_graph)
    if not outputs:
        return
    order = _nodes_behind(found)
    token = backprop_enabled.set(create_graph)
    try:
        with _on_device(outputs[0]):
            _sweep(order, found, create_graph, retain_graph or create_graph, set())
            for leaf, g in found.items():
                if leaf._grad is None and g.shape and g.__class__ is leaf.array.__class__:
                    _set_grad(leaf, g)
                else:
                    leaf._accumulate(_own(g))
    finally:
        backprop_enabled.reset(token)


def gradients(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    grads: Sequence[Any] | None = None,
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> list[Variable | None]:
    """The gradients of `outputs` with respect to `inputs`, returned; no ``.grad`` is touched.

    Parameters
    ----------
    outputs, grads, retain_graph, create_graph
        As for `backward`.
    inputs : sequence of Variable
        Leaves or results that require gradients.

    Returns
    -------
    list of Variable or None
        One for each input; None where no path leads to it.

    Raises
    ------
    GraphError
        If an input or an output needs no gradient, or the graph was freed.

    Examples
    --------
    >>> import arrayflow as af
    >>> x = af.asarray(3.0, device="cpu", requires_grad=True)
    >>> (dx,) = af.autograd.gradients([x * x * x], [x], create_graph=True)
    >>> (ddx,) = af.autograd.gradients([dx], [x])
    >>> float(dx), float(ddx)
    (27.0, 18.0)
    """
    outputs = list(outputs)
    for x in inputs:
        if not isinstance(x, Variable) or x._node is None:
            raise GraphError(
                "gradients: an input needs no gradient. Set x.requires_grad = True before computing with it."
            )
    found = _seed(outputs, [None] * len(outputs) if grads is None else list(grads), create_graph)
    targets = {_vertex(x) for x in inputs}
    needed: set[Any] = set()
    order = []
    for node in reversed(_nodes_behind(found)):  # the oldest first
        if any(p in targets or p in needed for p in node.parents or () if p is not None):
            needed.add(node)
            order.append(node)
    order.reverse()
    token = backprop_enabled.set(create_graph)
    try:
        with _on_device(outputs[0]):
            _sweep(order, found, create_graph, retain_graph or create_graph, targets)
    finally:
        backprop_enabled.reset(token)
    for x in inputs:
        x._lend()  # the caller keeps these gradients, so no later sweep may write into them
    out = [found.get(_vertex(x)) for x in inputs]
    return [g if g is None or isinstance(g, Variable) else Variable(_own(g)) for g in out]


_variable._tape = sys.modules[__name__]
