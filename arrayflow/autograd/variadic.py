"""`Variadic`: an operation on a sequence of arrays, such as joining them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..config import backprop_enabled
from ..errors import DTypeError
from ..transfers import user_site
from .explain import refuse
from .operands import SCALARS, no_array, prepare
from .primitive import Primitive, Rule, _names, _result
from .tape import Node
from .variable import Variable

__all__ = ["Variadic"]


class Variadic(Primitive):
    """One operation on as many arrays as it is given, which are brought to one data type.

    Its one rule may name ``shapes``, those of the operands, and the other arguments; it gives the cotangents of
    all of them in a sequence.
    """

    __slots__ = ()

    def __init__(self, name: str, operand: str, statics: Sequence[str], rule: Rule) -> None:
        super().__init__(name, (operand,), statics, (None,))
        unknown = [n for n in _names(rule) if n not in statics and n != "shapes"]
        if unknown:
            raise TypeError(f"{name}: a rule names {', '.join(unknown)}, but there are shapes, {', '.join(statics)}.")
        self.rules = (rule,)
        self.needs = (_names(rule),)

    def apply(self, arguments: Sequence[Any], statics: dict[str, Any]) -> Any:
        """Run on a list or tuple of Variables and raw arrays, and record it where a gradient is wanted."""
        operand = self.operands[0]
        if not isinstance(arguments, (list, tuple)) or not arguments:
            what = "an empty sequence" if isinstance(arguments, (list, tuple)) else f"a {type(arguments).__name__}"
            raise DTypeError(
                f"{self.name}: {operand} must be a list or tuple of one array or more, but it is {what} "
                f"(at {user_site()})."
            )
        call = _Call(self.name, operand, len(arguments))
        if any(isinstance(x, SCALARS) for x in arguments):
            raise no_array(call, [None if isinstance(x, SCALARS) else x for x in arguments])
        backend, arguments, raws, first = prepare(call, arguments)
        function = self.impl.get(first.__class__) or self.find(first)
        try:
            y = backend.as_array(function(raws, **statics))
        except Exception as error:
            refuse(call, arguments, error)
        if not any(isinstance(x, Variable) for x in arguments):
            return y
        parents = tuple(_vertex(x) for x in arguments)
        if not backprop_enabled.get() or all(p is None for p in parents):
            return _result(y, None)
        known = {"shapes": [tuple(raw.shape) for raw in raws], **statics}
        return _result(y, Node(self, parents, tuple(known[n] for n in self.needs[0]), None))

    def pull(self, node: Node, g: Any, grads: dict[Any, Any], create_graph: bool) -> None:
        """Add to `grads` what the cotangent `g` of a recorded call gives each of its operands."""
        parts = self.rules[0](g, *node.saved)  # type: ignore[misc]
        for parent, part in zip(node.parents, parts, strict=True):  # type: ignore[arg-type]
            if parent is not None:
                previous = grads.get(parent)
                grads[parent] = part if previous is None else previous + part


class _Call(Primitive):
    """What `prepare` asks of a primitive, for one call: a name for each operand."""

    __slots__ = ()

    def __init__(self, name: str, operand: str, n: int) -> None:
        self.name = name
        self.operands = tuple(f"{operand}[{k}]" for k in range(n))
        self.promote = tuple(range(n))
        self.rules = ()
        self.floating = self.numeric = False


def _vertex(x: Any) -> Any:
    if not isinstance(x, Variable) or x._node is None:
        return None
    return x if x._node is True else x._node
