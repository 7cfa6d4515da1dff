"""`Primitive`: one operation, how it runs on raw arrays, and how cotangents go back through it.

A rule is a lambda that names what it needs: ``g`` the cotangent, ``y`` the output, ``shape`` (``own_shape``
where the function has an argument of that name) and ``own_dtype`` the operand's own, ``out`` a buffer it may
write its result into (or None), or any of the function's own argument names. The engine keeps what is named and
nothing else. A rule is written in the very functions it gives rules to, so on raw arrays it is a derivative, on
Variables one that is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backends import registry
from ..config import backprop_enabled
from ..dtypes import as_dtype
from .explain import refuse
from .operands import ORDERED, no_array, of_ordered, prepare
from .tape import Node, Output, gradients
from .variable import Variable, _new, _wrap

__all__ = ["Primitive", "Rule", "broadcast", "cast", "sum_to"]

Rule = Callable[..., Any] | None
_recording = backprop_enabled.get


def _names(rule: Rule) -> tuple[str, ...]:
    """What a rule names after ``g``."""
    if rule is None:
        return ()
    code = rule.__code__
    return tuple(code.co_varnames[1 : code.co_argcount])


class Primitive:
    """One operation.

    Parameters
    ----------
    name : str
        What `Backend.op` knows it as.
    operands, statics : sequence of str
        Names of its array arguments and of the others.
    rules : sequence of callable or None
        One for each operand; None where no gradient passes.
    promote : sequence of int
        Operands that are brought to one data type first and broadcast together.
    floating : bool
        Whether integer operands become floating ones first.
    numeric : bool
        Whether boolean operands become integers first.
    outputs : int
        How many arrays it returns in a tuple; 0 for one that returns an array, -1 where the number depends on the call.
    definition : callable, optional
        The same function in plain array code. It is differentiated in place of the rules when the sweep itself is
        recorded; for rules that use something that is no function of the operands alone.
    aux : str
        What rules call the second array that the kernel returns, for their use alone. It needs a `definition`.
    """

    __slots__ = (
        "aux", "definition", "floating", "impl", "into", "name", "needs", "numeric", "operands", "outputs", "picks",
        "promote", "rules", "statics",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        operands: Sequence[str],
        statics: Sequence[str],
        rules: Sequence[Rule],
        *,
        promote: Sequence[int] = (),
        floating: bool = False,
        numeric: bool = False,
        outputs: int = 0,
        definition: Callable[..., Any] | None = None,
        aux: str = "",
    ) -> None:
        self.name = name
        self.aux = aux
        self.operands = tuple(operands)
        self.statics = tuple(statics)
        self.rules = tuple(rules)
        self.promote = tuple(promote)
        self.floating = floating
        self.numeric = numeric
        self.outputs = outputs
        self.definition = definition
        self.impl: dict[type, Callable[..., Any]] = {}
        self.into = tuple("out" in _names(rule) for rule in self.rules)
        self.needs = tuple(tuple(n for n in _names(rule) if n != "out") for rule in self.rules)
        self.picks = tuple(self._pick(i) for i in range(len(self.rules)))

    def _pick(self, i: int) -> Callable[..., Any]:
        """A function of (operands, statics, y, aux) that gives what rule `i` names."""
        needs = self.needs[i]
        known = (*self.operands, *self.statics, "y", *((self.aux,) if self.aux else ()))
        own = {"own_dtype": f"{self.operands[i]}.dtype"}
        own["shape"] = own["own_shape"] = f"{self.operands[i]}.shape"
        unknown = [n for n in needs if n not in known and n not in own]
        if unknown:
            raise TypeError(
                f"{self.name}: a rule names {', '.join(unknown)}, but there are {', '.join((*known, *own))}."
            )
        values = [n if n in known else own[n] for n in needs]
        source = f"lambda {', '.join(known)}: ({' '.join(v + ',' for v in values)})"
        return eval(source)

    # --- forward --------------------------------------------------------------------------------

    def find(self, array: Any) -> Callable[..., Any]:
        """The function for arrays of this class, kept for the next call."""
        backend = registry.backend_of(array)
        if backend is None:
            raise no_array(self, (array,))
        function = backend.op(self.name)
        if self.name in ORDERED:
            function = of_ordered(self, function, backend)
        self.impl[array.__class__] = function
        return function

    def apply(self, arguments: Sequence[Any], statics: dict[str, Any]) -> Any:
        """Run on Variables, raw arrays and scalars, and record it where a gradient is wanted."""
        backend, arguments, raws, first = prepare(self, arguments)
        function = self.impl.get(first.__class__) or self.find(first)
        if statics.get("dtype") is not None:
            statics["dtype"] = backend.raw_dtype(as_dtype(statics["dtype"]), backend.key(first))
        try:
            y = function(*raws, **statics)
        except Exception as error:
            refuse(self, arguments, error)
        extra: tuple[Any, ...] = ()
        if self.aux:
            y, *extra = y
        as_array = backend.as_array
        y = tuple(as_array(part) for part in y) if self.outputs else as_array(y)
        if not any(isinstance(x, Variable) for x in arguments):
            return y
        node = self._record(arguments, raws, statics, y, extra) if _recording() else None
        if not self.outputs:
            return _result(y, node)
        return tuple(_result(part, None if node is None else Output(node, k, len(y))) for k, part in enumerate(y))

    def _record(
        self, arguments: Sequence[Any], raws: Sequence[Any], statics: dict[str, Any], y: Any, extra: Any
    ) -> Node | None:
        rules = self.rules
        parents: list[Any] = [None] * len(rules)
        saved: list[Any] = [None] * len(rules)
        fix: list[Any] = [None] * len(rules)
        found = False
        for i, x in enumerate(arguments):
            if rules[i] is None or not isinstance(x, Variable) or x._node is None:
                continue
            found = True
            parents[i] = x if x._node is True else x._node
            saved[i] = self.picks[i](*raws, *statics.values(), y, *extra)
            if i in self.promote and tuple(raws[i].shape) != tuple(y.shape):
                fix[i] = tuple(raws[i].shape)
        if not found:
            return None
        if self.definition is not None:
            saved.append((raws, statics))
        return Node(self, tuple(parents), tuple(saved), tuple(fix))

    # --- backward -------------------------------------------------------------------------------

    def pull(self, node: Node, g: Any, grads: dict[Any, Any], create_graph: bool) -> None:
        """Add to `grads` what the cotangent `g` of a recorded call gives each of its operands."""
        saved: Any = node.saved
        if create_graph:
            if self.definition is not None:
                self._pull_definition(node, g, grads)
                return
            saved = self._as_variables(node)
        rules, into, fix = self.rules, self.into, node.fix
        for i, parent in enumerate(node.parents):  # type: ignore[arg-type]
            if parent is None:
                continue
            if not into[i]:
                part = rules[i](g, *saved[i])  # type: ignore[misc]
            elif create_graph or parent.__class__ is Node or parent in grads:
                part = rules[i](g, *saved[i], None)  # type: ignore[misc]
            else:  # a leaf may have a buffer from the last sweep, so that a step allocates no new gradient
                part = parent._fill(rules[i], g, saved[i])
            if fix[i] is not None:
                part = sum_to(part, fix[i])
            if parent in grads:
                part = grads[parent] + part
            grads[parent] = part

    def _as_variables(self, node: Node) -> list[Any]:
        """What the rules of a node saved, as Variables that stand in the graph where the originals did."""
        out: list[Any] = []
        for names, saved in zip(self.needs, node.saved, strict=True):
            if saved is None:
                out.append(None)
                continue
            values = []
            for name, value in zip(names, saved, strict=True):
                if name == "y":
                    value = (
                        tuple(_result(part, Output(node, k, len(value))) for k, part in enumerate(value))
                        if self.outputs
                        else _result(value, node)
                    )
                elif name in self.operands:
                    value = _operand(node, self.operands.index(name), value)
                values.append(value)
            out.append(values)
        return out

    def _pull_definition(self, node: Node, g: Any, grads: dict[Any, Any]) -> None:
        raws, statics = node.saved[-1]
        wanted = [i for i, parent in enumerate(node.parents) if parent is not None]  # type: ignore[arg-type]
        operands = [_operand(node, j, raw) for j, raw in enumerate(raws)]
        for i in wanted:  # doors, so that the inner sweep stops here
            operands[i] = _door(operands[i].array, node.parents[i])  # type: ignore[index]
        y = self.definition(*operands, **statics)  # type: ignore[misc]
        parts = gradients([y], [operands[i] for i in wanted], [g], create_graph=True)
        for i, part in zip(wanted, parts, strict=True):
            parent = node.parents[i]  # type: ignore[index]
            if part is not None:
                grads[parent] = part if parent not in grads else grads[parent] + part

    def __repr__(self) -> str:
        return f"<Primitive {self.name}({', '.join((*self.operands, *self.statics))})>"


def _result(array: Any, node: Node | None) -> Variable:
    out = _new(Variable)
    out.array = array
    out._node = node
    out._grad = None
    return out


def _door(raw: Any, parent: Any) -> Variable:
    """A Variable of its own in front of `parent`, so that a gradient can be taken there."""
    return _result(raw, Node(_identity, (parent,), ((),), (None,)))


def _operand(node: Node, j: int, raw: Any) -> Any:
    """Operand `j` of a recorded call as a Variable that stands where the original did."""
    if registry.backend_of(raw) is None:
        return raw  # a Python scalar, or an operand that was left out
    parent = node.parents[j]  # type: ignore[index]
    if parent is None:
        return _wrap(raw)
    if isinstance(parent, Node):
        return _result(raw, parent)
    # A leaf whose array was replaced since is not itself any more: stand in front of it.
    return parent if parent.array is raw else _door(raw, parent)


class _OutputPrimitive(Primitive):
    """Gathers the cotangents of an operation with several outputs for its one rule."""

    def pull(self, node: Node, g: Any, grads: dict[Any, Any], create_graph: bool) -> None:
        source = node.parents[0]  # type: ignore[index]
        parts = grads.setdefault(source, [None] * node.count)  # type: ignore[attr-defined]
        k = node.index  # type: ignore[attr-defined]
        parts[k] = g if parts[k] is None else parts[k] + g


_identity = Primitive("identity", ("x",), (), (lambda g: g,))
Output.gather = _OutputPrimitive("output", ("x",), (), (lambda g: g,))


# --- the one place where broadcasting and casting are undone -----------------------------------------

_broadcast = Primitive("broadcast", ("x",), ("to",), (lambda g, shape: sum_to(g, tuple(shape)),))
_sum_to = Primitive("sum_to", ("x",), ("to",), (lambda g, shape: broadcast(g, tuple(shape)),))
_cast = Primitive("cast", ("x",), ("dtype",), (lambda g, own_dtype: cast(g, dtype=own_dtype),))


def broadcast(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` repeated along axes of length 1, and along new leading axes, to `shape`."""
    return _broadcast.apply((x,), {"to": shape})


def sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    """`x` summed over what broadcasting from `shape` repeated: the adjoint of `broadcast`."""
    if x.shape == shape:
        return x
    return _sum_to.apply((x,), {"to": shape})


def cast(x: Any, *, dtype: Any) -> Any:
    """`x` in another data type; a complex array gives its real part to a real type."""
    return _cast.apply((x,), {"dtype": dtype})
