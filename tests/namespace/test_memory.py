"""What the graph keeps: what rules name, and no longer than someone can ask for it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from arrayflow.autograd import Variable, gradients
from arrayflow.autograd.tape import Node
from arrayflow.backends import registry


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def kept(y):
    """The arrays that the graph behind a Variable keeps, by identity."""
    found: dict[int, object] = {}
    stack: list[object] = [y._node]
    while stack:
        item = stack.pop()
        if isinstance(item, Node):
            stack += [item.saved, *item.parents]
        elif isinstance(item, (list, tuple)):
            stack += item
        elif not isinstance(item, Variable) and item is not None and registry.backend_of(item) is not None:
            found[id(item)] = item
    return found


def nodes():
    """How many there are."""
    return sum(issubclass(type(o), Node) for o in gc.get_objects())


class TestKept:
    def test_a_chain_of_exp_keeps_its_outputs_alone(self, xp, make):
        x = make(np.linspace(0, 0.1, 5), grad=True)
        outputs = [x]
        for _ in range(4):
            outputs.append(xp.exp(outputs[-1]))
        assert set(kept(outputs[-1])) == {id(y.array) for y in outputs[1:]}

    @pytest.mark.parametrize(
        "f",
        [
            lambda xp, x: xp.sum(x, axis=0),
            lambda xp, x: xp.mean(x),
            lambda xp, x: xp.reshape(x, (-1,)),
            lambda xp, x: xp.permute_dims(x, (1, 0)),
            lambda xp, x: xp.concat([x, x]),
            lambda xp, x: xp.stack([x, x]),
            lambda xp, x: x[1:, None],
            lambda xp, x: xp.broadcast_to(x, (5, 4, 3)),
            lambda xp, x: xp.cumulative_sum(x, axis=0),
            lambda xp, x: xp.flip(x),
        ],
    )
    def test_what_is_linear_keeps_no_array(self, xp, make, f):
        assert not kept(f(xp, make(np.ones((4, 3)), grad=True)))


class TestFreed:
    @pytest.mark.parametrize(
        "f",
        [
            lambda xp, x: xp.sum(xp.exp(x)),
            lambda xp, x: xp.sum(xp.concat([x, x[::-1]]) * 2),
            lambda xp, x: xp.sum(xp.stack(xp.unstack(x)[::-1]) ** 2),
            lambda xp, x: xp.prod(xp.sort(x, axis=0)),
            lambda xp, x: xp.std(x) + xp.max(x),
            lambda xp, x: xp.sum(xp.matmul(x, xp.matrix_transpose(x))),
        ],
    )
    @pytest.mark.usefixtures("no_collector")
    def test_by_reference_counts_alone(self, xp, make, f):
        x = make(np.linspace(0.5, 1.5, 6).reshape(3, 2), grad=True)
        before = nodes()
        hidden = x * 1
        watched = weakref.ref(hidden)
        y = f(xp, hidden)
        del hidden
        (g,) = gradients([y], [x], create_graph=True)
        if g.requires_grad:
            gradients([xp.sum(g * g)], [x])
        del y, g
        assert watched() is None
        assert nodes() <= before
