"""`primitive`: makes the callable of one operation. Functions of one or two arrays take a short way in.

The short way costs about a microsecond over the raw call: the function is found by the array's class
in a dict, one ``ContextVar`` is read, and one node is made. Everything unusual goes to `Primitive.apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backends import registry
from ..config import backprop_enabled
from .explain import refuse
from .primitive import Primitive, Rule
from .tape import Node
from .variable import Variable, _new
from .variadic import Variadic

__all__ = ["one_operand", "primitive"]

_recording = backprop_enabled.get
_FIX_1: tuple[None] = (None,)
_FIX_2: tuple[None, None] = (None, None)


def primitive(
    signature: str,
    *rules: Rule,
    promote: Sequence[str] | None = None,
    floating: bool = False,
    numeric: bool = False,
    outputs: int = 0,
    definition: Callable[..., Any] | None = None,
    doc: str = "",
) -> Callable[..., Any]:
    """Make the function of one operation from its signature and its rules.

    Parameters
    ----------
    signature : str
        ``"exp"`` for a function of as many arrays ``x`` or ``x1, x2`` as there are rules, or a whole Python
        signature such as ``"sum(x, /, *, axis=None)"``, whose first arguments, one for each rule, are the arrays.
        ``"concat(*arrays, /, *, axis=0)"`` is a function of a sequence of arrays: see `Variadic`.
    *rules : callable or None
        One line for each array; None where no gradient passes.
    promote : sequence of str, optional
        Arrays brought to one data type and broadcast together; by default those of a function of two.
    floating, numeric, outputs, definition
        See `Primitive`.
    doc : str
        Its docstring.

    Examples
    --------
    >>> from arrayflow.autograd import primitive
    >>> twice = primitive("exp", lambda g, y: g * y)
    >>> import arrayflow as af
    >>> x = af.zeros((2,), device="cpu"); x.requires_grad = True
    >>> af.sum(twice(x)).backward(); x.grad
    Variable([1., 1.], dtype=float32, device='cpu')
    """
    name, bracket, rest = signature.partition("(")
    if not bracket:
        rest = "x, /)" if len(rules) == 1 else "x1, x2, /)"
    rest = rest.strip().removesuffix(")")
    parameters = [p.partition("=")[0].strip() for p in _split(rest) if p.strip() not in ("/", "*")]
    operands, statics = parameters[: len(rules)], parameters[len(rules) :]
    if promote is None:
        promote = operands if len(rules) == 2 and not statics else ()
    if operands[0].startswith("*"):
        variadic = Variadic(name, operands[0][1:], statics, rules[0])
        return _finish(_sequence(variadic, rest.replace("*", "", 1)), variadic, doc)
    made = Primitive(
        name, operands, statics, rules, promote=[operands.index(p) for p in promote],
        floating=floating, numeric=numeric, outputs=outputs, definition=definition,
    )  # fmt: skip
    short = not statics and not outputs and definition is None
    if short and len(operands) == 1:
        function = _unary(made)
    elif short and len(operands) == 2 and len(promote) == 2:
        function = _binary(made)
    else:
        function = _general(made, rest)
    return _finish(function, made, doc)


def _finish(function: Callable[..., Any], made: Primitive, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = made.name
    function.__doc__ = doc
    function.primitive = made  # type: ignore[attr-defined]
    return function


def _split(text: str) -> list[str]:
    """Parameters of a signature; commas inside brackets are not between parameters."""
    out, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            out.append(text[start:i])
            start = i + 1
    return [p for p in (*out, text[start:]) if p.strip()]


def _sequence(made: Variadic, rest: str) -> Callable[..., Any]:
    """A function of a sequence of arrays with the signature given."""
    statics = ", ".join(f"{s!r}: {s}" for s in made.statics)
    scope: dict[str, Any] = {"_apply": made.apply}
    source = f"def {made.name}({rest}):\n    return _apply({made.operands[0]}, {{{statics}}})\n"
    exec(_compiled(made.name, source), scope)
    return scope[made.name]


def _compiled(name: str, source: str) -> Any:
    # A file name inside the package, so that its frame is not taken for the user's line.
    return compile(source, f"{__file__}:<{name}>", "exec")


def _general(made: Primitive, rest: str) -> Callable[..., Any]:
    """A function with the signature given, that hands its arguments on in two groups."""
    name = made.name
    operands = "".join(o + ", " for o in made.operands)
    # Shapes are often computed as lists, which not every library takes.
    statics = ", ".join(f"{s!r}: {'_shape(shape)' if s == 'shape' else s}" for s in made.statics)
    source = f"def {name}({rest}):\n"
    if len(made.operands) == 1 and not made.outputs and made.definition is None:
        x = made.operands[0]
        plain = f"isinstance({x}, _Variable)"
        if "dtype" in made.statics:  # a type to compute in is the library's own object, which apply looks up
            plain += " and dtype is None"
        if made.floating or made.numeric:
            plain += f" and {x}.array.dtype in _dtypes.get({x}.array.__class__, ())"
        source += f"    if {plain}:\n        return _short({x}, {{{statics}}})\n"
    source += f"    return _apply(({operands}), {{{statics}}})\n"
    scope: dict[str, Any] = {"_apply": made.apply, "_short": one_operand(made), "_Variable": Variable}
    scope["_shape"] = _shape
    scope["_dtypes"] = FLOATING if made.floating else NUMERIC
    exec(_compiled(name, source), scope)
    return scope[name]


# By class of array: the raw dtypes that are floating, and those that take a Python scalar as it is.
FLOATING: dict[type, set[Any]] = {}
# An integer array takes a Python integer the long way: it may be out of range.
TAKES: dict[type, dict[type, set[Any]]] = {float: FLOATING, int: FLOATING}
NUMERIC: dict[type, set[Any]] = {}
# Classes of arrays whose device needs no look.
ONE_DEVICE: set[type] = set()


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def one_operand(made: Primitive) -> Callable[..., Any]:
    """The short way of an operation on one Variable that needs no preparing: a function of it and the statics."""
    impl, find = made.impl.get, made.find
    has_rule, pick = made.rules[0] is not None, made.picks[0]

    def short(x: Variable, statics: dict[str, Any]) -> Variable:
        a = x.array
        cls = a.__class__
        try:
            y = (impl(cls) or find(a))(a, **statics)
        except Exception as error:
            refuse(made, (x,), error)
        if y.__class__ is not cls:
            y = registry.backend_of(a).as_array(y)  # type: ignore[union-attr]
        out = _new(Variable)
        out.array = y
        out._grad = None
        node = x._node
        if node is None or not has_rule or not _recording():
            out._node = None
        else:
            out._node = Node(made, (x if node is True else node,), (pick(a, *statics.values(), y),), _FIX_1)
        return out

    return short


def _unary(made: Primitive) -> Callable[..., Any]:
    impl, apply = made.impl.get, made.apply
    has_rule, pick = made.rules[0] is not None, made.picks[0]
    careful = made.floating

    def function(x: Any, /) -> Any:
        variable = isinstance(x, Variable)
        a = x.array if variable else x
        cls = a.__class__
        f = impl(cls)
        if f is None or (careful and a.dtype not in FLOATING.get(cls, ())):
            return apply((x,), {})
        try:
            y = f(a)
        except Exception as error:
            refuse(made, (x,), error)
        if y.__class__ is not cls:
            y = registry.backend_of(a).as_array(y)  # type: ignore[union-attr]
        if not variable:
            return y
        out = _new(Variable)
        out.array = y
        out._grad = None
        node = x._node
        if node is None or not has_rule or not _recording():
            out._node = None
        else:
            out._node = Node(made, (x if node is True else node,), (pick(a, y),), _FIX_1)
        return out

    return function


def _learn(backend: Any) -> None:
    """Note what the short ways ask of a backend's types, when it is loaded."""
    raw = backend.raw_dtypes
    floating = {raw[d] for d in raw if d.kind in ("real floating", "complex floating")}
    numeric = {raw[d] for d in raw if d.kind != "bool"}
    for cls in backend.array_types:
        FLOATING[cls] = floating
        NUMERIC[cls] = numeric
        if backend.one_device:
            ONE_DEVICE.add(cls)


registry.on_load(_learn)


def _binary(made: Primitive, apply: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A function of two arrays; `apply` is where it goes with what is unusual, by default the primitive's own."""
    impl, apply = made.impl.get, apply or made.apply
    has_1, has_2 = (rule is not None for rule in made.rules)
    pick_1, pick_2 = made.picks
    floating = made.floating
    takes = TAKES.get

    def function(x1: Any, x2: Any, /) -> Any:
        v1, v2 = isinstance(x1, Variable), isinstance(x2, Variable)
        a = x1.array if v1 else x1
        b = x2.array if v2 else x2
        cls = a.__class__
        array, pair = a, False
        f = impl(cls)
        if f is None:  # a Python scalar may stand first; else this is the first call, or a mistake
            classes = takes(cls)
            array, cls = b, b.__class__
            f = impl(cls)
            if classes is None or f is None or b.dtype not in classes.get(cls, ()):
                return apply((x1, x2), {})
        elif cls is b.__class__:
            pair = True
            if a.dtype != b.dtype or not (cls in ONE_DEVICE or same_device(a, b)):
                return apply((x1, x2), {})
        else:
            classes = takes(b.__class__)
            if classes is None or a.dtype not in classes.get(cls, ()):
                return apply((x1, x2), {})
        if floating and array.dtype not in FLOATING.get(cls, ()):
            return apply((x1, x2), {})
        try:
            y = f(a, b)
        except Exception as error:
            refuse(made, (x1, x2), error)
        if y.__class__ is not cls:
            y = registry.backend_of(array).as_array(y)  # type: ignore[union-attr]
        if not (v1 or v2):
            return y
        out = _new(Variable)
        out.array = y
        out._grad = None
        out._node = None
        n1 = x1._node if v1 and has_1 else None
        n2 = x2._node if v2 and has_2 else None
        if (n1 is None and n2 is None) or not _recording():
            return out
        fix: Any = _FIX_2
        if pair:
            shape = y.shape
            if a.shape != shape or b.shape != shape:
                fix = (None if a.shape == shape else tuple(a.shape), None if b.shape == shape else tuple(b.shape))
        out._node = Node(
            made,
            (x1 if n1 is True else n1, x2 if n2 is True else n2),
            (None if n1 is None else pick_1(a, b, y), None if n2 is None else pick_2(a, b, y)),
            fix,
        )
        return out

    return function


def same_device(a: Any, b: Any) -> bool:
    """Whether two arrays of one class are on one device."""
    key = registry.backend_of(a).key  # type: ignore[union-attr]
    return key(a) == key(b)
