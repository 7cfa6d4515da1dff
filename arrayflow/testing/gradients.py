"""`check_grads`: do the rules of a function agree with differences of its values?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from ..autograd import Variable, gradients
from ..backends import registry
from ..device import Device, device_of_raw, move, to_host
from ..dtypes import DTYPES
from ..errors import ArrayflowError
from ..transfers import user_site

__all__ = ["GradientError", "check_grads"]


class GradientError(ArrayflowError, AssertionError):
    """A gradient that is not the slope of the function."""


# By the type computed in: step, relative tolerance. The differences are of fourth order, so that the step can be
# wide enough for the rounding of a narrow type.
_STEPS = {"float64": (1e-3, 1e-6), "float32": (3e-2, 4e-3)}


def check_grads(
    f: Callable[..., Any],
    *xs: Any,
    order: int = 2,
    rtol: float | None = None,
    atol: float | None = None,
    step: float | None = None,
    seed: int = 0,
) -> None:
    """Compare the gradients of a function with differences of its values, along one random direction.

    With random weights ``w`` for its outputs, ``L = sum(w * f(x))`` is one number. For each argument the slope of
    ``L`` along a random direction ``d``, ``sum(dL/dx * d)`` from the rules, must equal
    ``(8 (L(x + hd) - L(x - hd)) - (L(x + 2hd) - L(x - 2hd))) / 12h``. Then the gradient itself, computed with
    ``create_graph=True``, is taken for the function, up to `order`.

    Parameters
    ----------
    f : callable
        Takes `xs` and gives a Variable or a sequence of them. It must be smooth within ``2 * step`` of `xs`.
    *xs : array, Variable or anything
        Its arguments. With respect to floating arrays it is differentiated; they are computed with in float64
        where their device has it, in float32 elsewhere. All others are handed on as they are.
    order : int
        1 for gradients alone, 2 for gradients of gradients as well, and so on.
    rtol, atol : float, optional
        What the two may differ by: ``atol + rtol * the larger one``. By default 1e-6 in float64 and 4e-3 in float32,
        both scaled by the size of what is summed.
    step : float, optional
        The step h. By default 1e-3 in float64 and 0.03 in float32.
    seed : int
        Of the weights and directions, which are the same on every device.

    Raises
    ------
    GradientError
        An `AssertionError` that names the argument, the order, both numbers and the tolerance.

    Examples
    --------
    >>> import arrayflow as af
    >>> from arrayflow.testing import check_grads
    >>> check_grads(af.sin, af.asarray([0.5, 1.0], device="cpu"))
    >>> check_grads(lambda x: x.detach() * x, af.asarray([0.5], device="cpu"))  # a derivative is missing
    Traceback (most recent call last):
    ...
    arrayflow.testing.gradients.GradientError: check_grads: ...
    """
    arguments = [_Argument(name, x) for name, x in zip(_names(f, len(xs)), xs, strict=True)]
    found = [a for a in arguments if a.smooth]
    if not found:
        raise GradientError(
            f"check_grads: an argument must be a floating array for there to be a gradient, but there are only "
            f"{', '.join(type(x).__name__ for x in xs) or 'none'} (at {user_site()})."
        )
    narrow = any(a.dtype in ("float32", "complex64") for a in found)
    h, tolerance = _STEPS["float32" if narrow else "float64"]
    check = _Check(arguments, step or h, rtol, atol, tolerance, Random(seed))
    check.run(f, 1, order)


def _names(f: Callable[..., Any], n: int) -> list[str]:
    """What a function calls its first `n` arguments."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [names[k] if k < len(names) else f"argument {k}" for k in range(n)]


class _Argument:
    """One argument: its values on the host, and how a Variable with other values is made in its place."""

    def __init__(self, name: str, x: Any) -> None:
        self.name = name
        self.given = x
        raw = x.array if isinstance(x, Variable) else x
        backend = registry.backend_of(raw)
        self.smooth = backend is not None and backend.dtype_of_raw[raw.dtype].kind.endswith("floating")
        if backend is None or not self.smooth:
            return
        self.device = device_of_raw(raw)
        wide = DTYPES["float64"] in backend.dtypes_on(self.device.native)
        self.complex = backend.dtype_of_raw[raw.dtype].kind == "complex floating"
        self.dtype = {(0, 0): "float32", (0, 1): "float64", (1, 0): "complex64", (1, 1): "complex128"}[
            self.complex, wide
        ]
        host = to_host(raw, entry="check_grads")
        self.values = _host().astype(host, getattr(_host(), "complex128" if self.complex else "float64"))

    def at(self, values: Any) -> Variable:
        """A leaf with the values given."""
        return Variable(move(values.astype(self.dtype), self.device, entry="check_grads"), requires_grad=True)


def _host() -> Any:
    return Device("cpu").backend.xp


def _draw(random: Random, shape: Sequence[int], complex_: bool) -> Any:
    """Numbers between 0.5 and 1.5 of either sign: none so small that it hides a mistake."""
    xp = _host()
    n = 1
    for length in shape:
        n *= length

    def real() -> Any:
        return xp.asarray([random.choice((-1, 1)) * random.uniform(0.5, 1.5) for _ in range(n)], dtype=xp.float64)

    flat = real() + 1j * real() if complex_ else real()
    return xp.reshape(flat, tuple(shape))


def _dot(a: Any, b: Any) -> tuple[float, float]:
    """The real inner product of two host arrays, and the sum of its terms' sizes."""
    xp = _host()
    terms = xp.real(xp.conj(a) * b)
    return float(xp.sum(terms)), float(xp.sum(xp.abs(terms)))


class _Check:
    def __init__(
        self,
        arguments: list[_Argument],
        step: float,
        rtol: float | None,
        atol: float | None,
        tolerance: float,
        random: Random,
    ) -> None:
        self.arguments = arguments
        self.step = step
        self.rtol, self.atol, self.tolerance = rtol, atol, tolerance
        self.random = random

    def leaves(self, moved: _Argument | None = None, by: Any = 0) -> list[Any]:
        return [a.at(a.values + by if a is moved else a.values) if a.smooth else a.given for a in self.arguments]

    def run(self, f: Callable[..., Any], order: int, last: int) -> None:
        """Check the gradients of `f`, then those of its gradient."""
        leaves = self.leaves()
        outputs = list(_smooth(f(*leaves)))
        weights = [_draw(self.random, y.shape, y.dtype.kind == "complex floating") for y in outputs]
        directions = {a.name: _draw(self.random, a.values.shape, a.complex) for a in self.arguments if a.smooth}

        def gradient(*xs: Any) -> tuple[Variable, ...]:
            return _gradients(
                list(_smooth(f(*xs))), weights, [x for x, a in zip(xs, self.arguments, strict=True) if a.smooth]
            )

        found = gradient(*leaves)
        for a, g in zip((a for a in self.arguments if a.smooth), found, strict=True):
            if g.shape != a.values.shape or g.device is not a.device or g.dtype != a.dtype:
                raise GradientError(
                    f"check_grads: the gradient of order {order} by {a.name!r} must be like the argument, "
                    f"{a.values.shape}, {a.dtype}, {a.device}, but it is {g.shape}, {g.dtype!s}, {g.device} "
                    f"(at {user_site()})."
                )
            d = directions[a.name]
            slope, size = _dot(to_host(g.array, entry="check_grads"), d)
            difference, noise = self.difference(f, a, d, weights)
            self.compare(a, order, slope, difference, max(size, noise))
        if order < last:
            self.run(gradient, order + 1, last)

    def difference(self, f: Callable[..., Any], a: _Argument, d: Any, weights: Sequence[Any]) -> tuple[float, float]:
        """The slope of the weighted sum along `d`, and the size of what it is made of."""
        slope = noise = 0.0
        for k, factor in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
            for y, w in zip(_smooth(f(*self.leaves(a, k * self.step * d))), weights, strict=True):
                value, size = _dot(w, to_host(y.array, entry="check_grads"))
                slope += factor * value / (12 * self.step)
                noise = max(noise, size)
        return slope, noise

    def compare(self, a: _Argument, order: int, slope: float, difference: float, size: float) -> None:
        limit = (self.tolerance if self.atol is None else self.atol) * max(1.0, size if self.atol is None else 1.0)
        limit += (self.tolerance if self.rtol is None else self.rtol) * max(abs(slope), abs(difference))
        if not abs(slope - difference) <= limit:
            raise GradientError(
                f"check_grads: the derivative of order {order} by {a.name!r} must be the slope of f, but along "
                f"a random direction it is {slope:.9g} by the rules and {difference:.9g} by central differences, "
                f"tolerance {limit:.2g} ({a.dtype} on {a.device}, shape {a.values.shape}; at {user_site()}). "
                f"Is the function smooth there? Then a rule is wrong, or a path was cut by detach()."
            )


def _smooth(result: Any) -> Iterator[Variable]:
    """The floating arrays that a function returned."""
    for y in result if isinstance(result, (list, tuple)) else (result,):
        y = y if isinstance(y, Variable) else Variable(y)
        if y.dtype.kind.endswith("floating"):
            yield y


def _gradients(outputs: Sequence[Variable], weights: Sequence[Any], leaves: Sequence[Variable]) -> tuple[Variable, ...]:
    """Gradients that can be differentiated again; zeros where no path leads."""
    pairs = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
    found: list[Variable | None] = [None] * len(leaves)
    if pairs:
        cotangents = [move(w.astype(str(y.dtype)), y.device, entry="check_grads") for y, w in pairs]
        found = gradients([y for y, _ in pairs], leaves, cotangents, create_graph=True)
    return tuple(_zeros(x) if g is None else g for x, g in zip(leaves, found, strict=True))


def _zeros(x: Variable) -> Variable:
    device = x.device
    return Variable(device.backend.create("zeros", device.native, x.shape, dtype=x.dtype))
