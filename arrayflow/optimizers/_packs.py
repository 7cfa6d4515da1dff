"""Small parameters side by side in one array, so that a step is one call for all of them.

A pack is made after a step in which the step function wrote in place, of parameters of one class and data
type on one device. They, their gradients and their state become views into flat arrays. Whoever
replaces one of the views (a move, a load, an assignment) breaks the pack, and the next step goes
parameter by parameter again. Large parameters stay apart: they gain nothing, and moving them one by one
must not need memory for more than one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..autograd.tape import clock
from ..backends import registry
from ..links.parameter import Parameter, _set_array, _set_buffer, _set_changed

__all__ = ["Pack", "make_packs"]

# Elements of one parameter up to which it is small, and of a whole pack.
SMALL = 16_384
LARGEST = 65_536


def packable(p: Parameter) -> bool:
    """Whether a parameter is small enough to share an array."""
    return 0 < p.size <= SMALL


class Pack:
    """Parameters that share flat arrays for values, gradients and state."""

    __slots__ = ("flat", "gradient", "members", "rows", "states", "values")

    def __init__(self, members: Sequence[tuple[Parameter, Any]]) -> None:
        self.members = members
        self.flat = _join([p.array for p, _ in members])
        self.values = _cut(self.flat, [p.array for p, _ in members])
        count = len(members[0][1].arrays)
        self.states = tuple(_join([state.arrays[k] for _, state in members]) for k in range(count))
        parts = [_cut(flat, self.values) for flat in self.states]
        for i, (p, state) in enumerate(members):
            _set_array(p, self.values[i])
            state.arrays = tuple(part[i] for part in parts)
        self.gradient: Any = None
        self.rows: list[tuple[Parameter, Any, Any, Any]] = []  # parameter, state, view of values, view of gradients
        self.renew()

    def renew(self) -> None:
        """Give the parameters a new flat array for their next gradients; somebody may hold the old one."""
        empty_like = registry.backend_of(self.flat).op("empty_like")  # type: ignore[union-attr]
        self.gradient = empty_like(self.flat)
        buffers = _cut(self.gradient, self.values)
        self.rows = [(p, s, v, b) for (p, s), v, b in zip(self.members, self.values, buffers, strict=True)]
        for p, _, _, buffer in self.rows:
            _set_buffer(p, buffer)

    def step(self) -> int:
        """The step to take with the pack as a whole: 1, 2, ...

        0 where its parameters must go one by one, as a gradient is missing or elsewhere, or their steps differ; -1
        where the pack is broken: somebody has given a parameter other values.
        """
        t = self.rows[0][1].t
        whole = True
        for p, state, value, buffer in self.rows:
            if p.array is not value:
                return -1
            if p._grad is not buffer or state.t != t:
                whole = False
        return t + 1 if whole else 0

    def commit(self, t: int) -> None:
        """Note that step `t` was taken, in place."""
        now = clock.tick()
        for p, state, _, _ in self.rows:
            state.t = t
            _set_changed(p, now)


def _join(arrays: Sequence[Any]) -> Any:
    backend = registry.backend_of(arrays[0])
    reshape, concat = backend.op("reshape"), backend.op("concat")  # type: ignore[union-attr]
    return concat([reshape(a, (-1,)) for a in arrays])


def _cut(flat: Any, like: Sequence[Any]) -> list[Any]:
    """Views of a flat array in the shapes of others, one after another."""
    reshape = registry.backend_of(flat).op("reshape")  # type: ignore[union-attr]
    out, start = [], 0
    for a in like:
        end = start + math.prod(a.shape)
        out.append(reshape(flat[start:end], tuple(a.shape)))
        start = end
    return out


def make_packs(members: Sequence[tuple[Parameter, Any]]) -> list[Pack]:
    """Packs of parameters that are alike, each of `LARGEST` elements at most."""
    groups: dict[Any, list[tuple[Parameter, Any]]] = {}
    for p, state in members:
        if packable(p):
            groups.setdefault((p.device, p.dtype, p.array.__class__), []).append((p, state))
    packs = []
    for alike in groups.values():
        room: list[tuple[Parameter, Any]] = []
        filled = 0
        for p, state in alike:
            if filled + p.size > LARGEST and len(room) > 1:
                packs.append(Pack(room))
                room, filled = [], 0
            room.append((p, state))
            filled += p.size
        if len(room) > 1:
            packs.append(Pack(room))
    return packs
