"""`Optimizer`: the parameters of a model, the state that belongs to each, and one step function for all."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any, ClassVar

from ..autograd.variable import Variable, as_raw
from ..backends import registry
from ..device import Device, device_of_raw, move
from ..dtypes import DTYPES
from ..errors import DeviceMismatchError, DTypeError, OptimizerError
from ..links._moving import move_parts
from ..links.link import _structure as structure
from ..links.parameter import Parameter
from ..slots import Slot
from ..transfers import user_site
from ._packs import Pack, make_packs
from ._state import State, count_slot

__all__ = ["Optimizer"]


# How often broken packs are made anew: two optimizers of one model would break each other's for ever.
PACK_TRIES = 16


class Optimizer:
    """Base class: a subclass names its kernel, its numbers and its state arrays.

    A step runs where each parameter lives and reads nothing back to the host. Numbers pass through
    ``float()``, so a NumPy scalar never changes a parameter's data type.

    Attributes
    ----------
    kernel : str
        Name of the step function ``kernel(p, g, *state, **numbers) -> (p, *state)``.
    numbers : tuple of str
        Names of its hyper-parameters, attributes of the optimizer that may be set at any time.
    state_names : tuple of str
        Names of the arrays it keeps for each parameter.
    """

    kernel: ClassVar[str]
    numbers: ClassVar[tuple[str, ...]]
    state_names: ClassVar[tuple[str, ...]] = ()
    # Whether the step function takes the number of the step, t = 1, 2, ...
    counts: ClassVar[bool] = False

    t: int

    # By class of array; found once for all optimizers of a kind.
    _functions: ClassVar[dict[type, Callable[..., Any]]]

    def __init_subclass__(cls) -> None:
        cls._functions = {}

    def __init__(self, **numbers: float) -> None:
        for name, value in numbers.items():
            setattr(self, name, value)
        self.t = 0
        self._model: Any = None
        self._structure = -1
        self._parameters: dict[str, Parameter] = {}
        self._states: dict[Parameter, State] = {}
        self._packs: list[Pack] | None = None
        self._loose: list[tuple[Parameter, State]] = []
        self._tries = 0

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.numbers:
            value = self._number(name, value)
            if not math.isfinite(value):
                raise OptimizerError(f"{type(self).__name__}: {name} must be finite, but it is {value}.")
            self._check_number(name, value)
        object.__setattr__(self, name, value)

    def _number(self, name: str, value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            kind = type(self).__name__
            raise TypeError(
                f"{kind}: {name} must be a number, but it is a {type(value).__name__}. "
                f"The model goes to setup: {kind}(lr=0.01).setup(model)."
            ) from None

    def _check_number(self, name: str, value: float) -> None:
        bounded = name in ("momentum", "beta1", "beta2")
        if value < 0 or (bounded and value >= 1):
            where = "in [0, 1)" if bounded else "at least 0"
            raise OptimizerError(f"{type(self).__name__}: {name} must be {where}, but it is {value}.")

    def setup(self, model: Any) -> Any:
        """Take the parameters of a model, those whose sizes are still unknown included.

        A layer or parameter that is put into a Link later, or replaced in it, is trained from the next step on; the
        state of those that stay is kept.

        Parameters
        ----------
        model : Link, or iterable of Parameter
            A parameter that has several names is taken once.

        Returns
        -------
        Optimizer
            Itself, so that ``optimizer = Adam().setup(model)``.

        Raises
        ------
        OptimizerError
            If there is none.
        """
        linked = hasattr(model, "namedparams")
        if linked:
            named: Iterable[tuple[str, Any]] = model.namedparams()
        elif isinstance(model, Variable) or not isinstance(model, Iterable):
            raise TypeError(
                f"{type(self).__name__}.setup: model must be a Link or a list of Parameters, but it is a "
                f"{type(model).__name__}."
            )
        else:
            named = ((str(i), p) for i, p in enumerate(model))
        found: dict[str, Parameter] = {}
        seen: set[Parameter] = set()
        for path, p in named:
            if not isinstance(p, Parameter):
                raise TypeError(
                    f"{type(self).__name__}.setup: {path} is a {type(p).__name__}, but must be a Parameter."
                )
            if p not in seen:
                seen.add(p)
                found[path] = p
        if not found:
            raise OptimizerError(
                f"{type(self).__name__}.setup: there is no parameter to train in this {type(model).__name__}."
            )
        self._model = model if linked else None
        self._structure = structure[0]
        if [(path, id(p)) for path, p in found.items()] != [(path, id(p)) for path, p in self._parameters.items()]:
            for p in self._states:
                if p not in seen and p._optimizers is not None:
                    p._optimizers.discard(self)
            self._parameters = found
            self._states = {p: self._states.get(p) or State() for p in found.values()}
            self._unpack()
            self._register()
        return self

    def _register(self) -> None:
        """Let the parameters know, so that a model that moves takes the state along."""
        for p in self._states:
            if p._optimizers is None:
                p._optimizers = weakref.WeakSet()
            p._optimizers.add(self)

    def _follow(self) -> None:
        """Take up what was put into the model, or replaced in it, since the last look."""
        if self._model is not None and self._structure != structure[0]:
            self.setup(self._model)

    def __getstate__(self) -> dict[str, Any]:
        # Packs are views of memory that a copy does not share.
        return self.__dict__ | {"_packs": None, "_loose": [], "_structure": -1}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._unpack()
        self._register()

    def update(self, lossfun: Callable[..., Any] | None = None, *args: Any, **kwargs: Any) -> None:
        """Take one step with the gradients there are. Parameters without one stay as they are.

        Parameters
        ----------
        lossfun : callable, optional
            If given, ``lossfun(*args, **kwargs)`` is computed and differentiated first, after the gradients of the
            optimizer's parameters are cleared.

        Raises
        ------
        OptimizerError
            Before `setup`.
        DeviceMismatchError
            If a gradient or a state does not live where its parameter lives. No parameter was changed.
        """
        if not self._parameters:
            raise OptimizerError(f"{type(self).__name__}.update: it has no parameters yet. Call setup(model) first.")
        self._follow()
        if lossfun is not None:
            for p in self._states:
                p.cleargrad()
            loss = lossfun(*args, **kwargs)
            if not isinstance(loss, Variable):
                raise OptimizerError(
                    f"{type(self).__name__}.update: lossfun must return a Variable, the loss, but it returned a "
                    f"{type(loss).__name__} (at {user_site()})."
                )
            loss.backward()
        numbers = {name: getattr(self, name) for name in self.numbers}
        packs = self._packs
        steps = [pack.step() for pack in packs] if packs is not None else []
        if -1 in steps:
            self._unpack()
            packs, steps = None, []
        loose = self._loose
        if 0 in steps:
            loose = loose + [m for pack, t in zip(packs or (), steps, strict=True) if not t for m in pack.members]
        work = [(p, state, self._gradient(p)) for p, state in loose if p._grad is not None]
        for p, state, _ in work:
            if state.arrays is None:
                self._create(p, state)  # before any step, because there may be no memory for it
        for pack, t in zip(packs or (), steps, strict=True):
            if t:
                self._step_of_pack(pack, t, numbers)
        in_place = not work or self._step_one_by_one(work, numbers)
        self.t += 1
        if packs is None:
            if in_place and len(work) == len(self._states) and self._tries < PACK_TRIES:
                self._pack()
        elif 0 in steps:
            for pack, t in zip(packs, steps, strict=True):
                if not t and all(p._grad is not None for p, _ in pack.members):
                    pack.renew()

    def _step_of_pack(self, pack: Pack, t: int, numbers: dict[str, Any]) -> None:
        if self.counts:
            numbers["t"] = t
        self._functions[pack.flat.__class__](pack.flat, pack.gradient, *pack.states, **numbers)
        pack.commit(t)

    def _step_one_by_one(self, work: list[tuple[Parameter, State, Any]], numbers: dict[str, Any]) -> bool:
        """Step parameter by parameter; whether the step function wrote in place throughout."""
        in_place = True
        functions = self._functions
        for p, state, g in work:
            raw = p.array
            function = functions.get(raw.__class__) or self._find(raw)
            t = state.t + 1
            if self.counts:
                numbers["t"] = t
            new = function(raw, g, *state.arrays, **numbers)  # type: ignore[misc]
            in_place = in_place and new[0] is raw
            state.arrays, state.t = new[1:], t
            p._commit(new[0])
        return in_place

    def _pack(self) -> None:
        """From now on small parameters step together."""
        self._tries += 1
        self._packs = make_packs(list(self._states.items()))
        packed = {p for pack in self._packs for p, _ in pack.members}
        self._loose = [(p, state) for p, state in self._states.items() if p not in packed]

    def _unpack(self) -> None:
        self._packs = None
        self._loose = list(self._states.items())

    def _find(self, raw: Any) -> Callable[..., Any]:
        function = registry.backend_of(raw).op(self.kernel)  # type: ignore[union-attr]
        self._functions[raw.__class__] = function
        return function

    def _gradient(self, p: Parameter) -> Any:
        """The raw gradient, checked: two arrays of one class and dtype on one device."""
        g = as_raw(p._grad)
        raw = p.array
        backend = registry.backend_of(raw)
        if g.__class__ is not raw.__class__ or not (backend.one_device or backend.key(g) == backend.key(raw)):  # type: ignore[union-attr]
            place = device_of_raw(g)
            if place is not p.device:
                raise DeviceMismatchError(
                    f"{type(self).__name__}.update: parameter {p.path!r} lives on {p.device}, its gradient on {place} "
                    f"(at {user_site()}). Move the model whole: model.to_device({str(p.device)!r})."
                )
        if g.dtype != raw.dtype:
            raise DTypeError(
                f"{type(self).__name__}.update: parameter {p.path!r} is {p.dtype!s}, its gradient {g.dtype} "
                f"(at {user_site()}). Cast the gradient: p.grad = af.astype(g, {p.dtype!r})."
            )
        return g

    def _create(self, p: Parameter, state: State) -> None:
        device = p.device
        state.arrays = tuple(
            device.backend.create("zeros", device.native, p.shape, dtype=p.dtype) for _ in self.state_names
        )

    # --- moving ---------------------------------------------------------------------------------

    @property
    def device(self) -> Device | None:
        """Where its first parameter lives; None before `setup`."""
        return next((p.device for p in self._states), None)

    def _move_state(self, parameters: Iterable[Parameter], device: Device) -> None:
        """Move the state of some parameters, array by array; called when a link moves them."""
        self._unpack()
        for p in parameters:
            state = self._states.get(p)
            if state is not None and state.arrays is not None:
                arrays = list(state.arrays)
                state.arrays = None
                try:
                    for k in range(len(arrays)):
                        arrays[k] = move(arrays[k], device)  # the old copy is freed here
                finally:
                    state.arrays = tuple(arrays)

    def __to_device__(self, device: Device, copy: bool | None) -> Optimizer:
        optimizer = deepcopy(self) if copy else self
        optimizer._follow()
        move_parts(type(self).__name__, list(optimizer._parameters.items()), device, copy)
        return optimizer

    def to_device(self, device: str | Device) -> Optimizer:
        """Move parameters, gradients and state in place, also the state that other optimizers keep for them.

        Returns itself. On any error nothing has been moved.
        """
        return self.__to_device__(Device(device), None)

    # --- files ----------------------------------------------------------------------------------

    def _state_slots(self) -> dict[str, Slot]:
        self._follow()
        slots = {name: self._number_slot(name) for name in self.numbers}
        slots["t"] = Slot(lambda: self.t, lambda v: setattr(self, "t", int(v)), DTYPES["int64"], ())
        for path, p in self._parameters.items():
            state = self._states[p]
            slots[f"{path}.t"] = count_slot(state)
            for k, name in enumerate(self.state_names):
                slots[f"{path}.{name}"] = self._array_slot(p, state, k)
        return slots

    def _number_slot(self, name: str) -> Slot:
        return Slot(lambda: getattr(self, name), lambda v: setattr(self, name, v), DTYPES["float64"], ())

    def _array_slot(self, p: Parameter, state: State, k: int) -> Slot:
        def get() -> Any:
            return None if state.arrays is None else state.arrays[k]

        def put(value: Any) -> None:
            # The parameter's own shape may still be unknown: its values may come later out of the same file.
            self._unpack()
            arrays = list(state.arrays or (None,) * len(self.state_names))
            arrays[k] = p.device.backend.copy(move(value, p.device, entry="load_npz"))
            state.arrays = tuple(arrays)

        def restore(old: Any) -> None:
            if old is None:
                state.arrays = None
            else:
                put(old)

        def check(shape: tuple[int, ...]) -> str | None:
            if p.is_initialized and tuple(shape) != p.shape:
                return f"the parameter it belongs to has the shape {p.shape}"
            return None

        return Slot(get, put, p.dtype, p.shape if state.arrays is not None else None, check=check, restore=restore)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in self.numbers)
        return f"{type(self).__name__}({numbers})"
