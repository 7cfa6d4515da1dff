"""The tape: what is kept, what is freed, and what is refused."""

import gc
import threading
import weakref

import pytest

import arrayflow as af
from arrayflow.autograd import gradients
from arrayflow.errors import DeviceMismatchError, GraphError, ShapeError


def leaf(values, device):
    return af.asarray(values, device=device, requires_grad=True)


class TestBackward:
    def test_a_sum_of_products_has_the_gradients_of_the_product_rule(self, device):
        x, y = leaf([1.0, 2.0], device), leaf([3.0, 5.0], device)
        af.sum(x * y + x).backward()
        assert x.grad.numpy().tolist() == [4.0, 6.0]
        assert y.grad.numpy().tolist() == [1.0, 2.0]
        assert x.grad.device is device

    def test_gradients_add_up_over_calls_until_they_are_cleared(self, device):
        x = leaf([2.0], device)
        for _ in range(2):
            af.sum(x * x).backward()
        assert x.grad.numpy().tolist() == [8.0]
        x.cleargrad()
        assert x.grad is None

    def test_several_outputs_take_their_cotangents_in_one_sweep(self, device):
        x = leaf([1.0, 2.0], device)
        ones = af.ones((2,), device=device)
        af.backward([x * 2, x * x], [ones, 10 * ones])
        assert x.grad.numpy().tolist() == [22.0, 42.0]

    def test_a_result_used_twice_gets_both_shares(self, device):
        x = leaf([3.0], device)
        y = x * x
        af.sum(y * y + y).backward()
        assert x.grad.numpy().tolist() == [4 * 27.0 + 6.0]

    def test_broadcasting_is_summed_away(self, device):
        x, row, number = leaf([[1.0], [2.0]], device), leaf([1.0, 2.0, 3.0], device), leaf(2.0, device)
        af.sum(x * row * number).backward()
        assert x.grad.numpy().tolist() == [[12.0], [12.0]]
        assert row.grad.numpy().tolist() == [6.0, 6.0, 6.0]
        assert float(number.grad) == 18.0
        assert number.grad.shape == ()

    def test_promotion_is_cast_away(self, device):
        if af.float64 not in device.backend.dtypes_on(device.native):
            pytest.skip(f"{device} has no float64")
        x = leaf([1.0, 2.0], device)
        wide = af.asarray([1.0, 1.0], dtype=af.float64, device=device, requires_grad=True)
        y = x * wide
        assert y.dtype == af.float64
        af.sum(y).backward()
        assert x.grad.dtype == af.float32
        assert wide.grad.dtype == af.float64

    def test_a_given_cotangent_is_not_shared_with_the_gradient(self, device):
        x = leaf([1.0, 2.0], device)
        g = af.ones((2,), device=device)
        (x + 0.0).backward(g)
        g[0] = 5.0
        assert x.grad.numpy().tolist() == [1.0, 1.0]


class TestWhatIsRefused:
    def test_a_second_sweep_over_a_freed_graph(self, device):
        x = leaf([1.0], device)
        y = af.sum(x * x)
        y.backward()
        with pytest.raises(GraphError, match=r"freed by an earlier backward\(\).*retain_graph=True"):
            y.backward()

    def test_unless_it_was_asked_to_stay(self, device):
        x = leaf([1.0], device)
        y = af.sum(x * x)
        y.backward(retain_graph=True)
        y.backward()
        assert x.grad.numpy().tolist() == [4.0]

    def test_a_result_that_needs_no_gradient(self, device):
        with pytest.raises(GraphError, match="needs no gradient"):
            af.ones((), device=device).backward()

    def test_a_vector_without_a_cotangent(self, device):
        with pytest.raises(ShapeError, match=r"shape \(2,\) needs its cotangent"):
            (leaf([1.0, 2.0], device) * 2).backward()

    def test_a_cotangent_of_another_shape_leaves_the_graph_whole(self, device):
        x = leaf([1.0, 2.0], device)
        y = x * 2
        with pytest.raises(ShapeError, match=r"shape \(3,\) must be the output's, \(2,\)"):
            y.backward(af.ones((3,), device=device))
        assert x.grad is None
        y.backward(af.ones((2,), device=device))
        assert x.grad.numpy().tolist() == [2.0, 2.0]

    def test_a_cotangent_from_elsewhere(self, device):
        elsewhere = "cpu" if device != "cpu" else "strict:device2"
        y = leaf([1.0, 2.0], device) * 2
        with pytest.raises(DeviceMismatchError, match=f"cotangent is on {elsewhere}, but the output is on {device}"):
            y.backward(af.ones((2,), device=elsewhere))

    def test_a_number_as_a_cotangent_says_how_to_make_it_an_array(self, device):
        y = af.sum(leaf([1.0, 2.0], device))
        with pytest.raises(
            DeviceMismatchError, match=r"cotangent is a float.*Make it an array: af.asarray\(grad, device="
        ):
            y.backward(1.0)

    def test_requires_grad_of_a_result_and_of_integers(self, device):
        y = leaf([1.0], device) * 2
        with pytest.raises(GraphError, match="cannot be set on a result"):
            y.requires_grad = False
        with pytest.raises(TypeError, match="only floating arrays have gradients"):
            af.asarray([1], device=device, requires_grad=True)


class TestSwitches:
    def test_no_grad_records_nothing_and_is_undone_after_an_exception(self, device):
        x = leaf([1.0], device)

        def fail():
            with af.no_grad():
                assert not (x * 2).requires_grad
                raise RuntimeError("boom")

        with pytest.raises(RuntimeError, match="boom"):
            fail()
        assert (x * 2).requires_grad

    def test_no_grad_decorates(self, device):
        x = leaf([1.0], device)
        assert not af.no_grad()(lambda: x * 2)().requires_grad

    def test_no_grad_of_one_thread_is_not_another_s(self, device):
        x = leaf([1.0], device)
        seen = []
        with af.no_grad():
            thread = threading.Thread(target=lambda: seen.append((x * 2).requires_grad))
            thread.start()
            thread.join()
        assert seen == [True]

    def test_detach_cuts(self, device):
        x = leaf([2.0], device)
        af.sum(x * (x * x).detach()).backward()
        assert x.grad.numpy().tolist() == [4.0]

    def test_retain_grad_leaves_one_on_a_result(self, device):
        x = leaf([2.0], device)
        y = (x * x).retain_grad()
        z = y * 3
        af.sum(z).backward()
        assert y.grad.numpy().tolist() == [3.0]
        assert z.grad is None


class TestHigherOrder:
    def test_the_third_derivative_of_x_to_the_fourth(self, device):
        x = leaf(2.0, device)
        y = x * x * x * x
        for expected in (32.0, 48.0, 48.0, 24.0):
            (y,) = gradients([y], [x], create_graph=True)
            assert float(y) == expected

    def test_gradient_of_a_gradient_through_backward(self, device):
        x = leaf([1.0, 2.0], device)
        af.sum(x * x * x).backward(create_graph=True)
        g = x.grad
        x.cleargrad()
        af.sum(g * g).backward()  # d/dx (3 x^2)^2 = 36 x^3
        assert x.grad.numpy().tolist() == [36.0, 288.0]

    def test_through_broadcasting(self, device):
        x, w = leaf([[1.0], [2.0]], device), leaf([1.0, 2.0], device)
        (gx,) = gradients([af.sum(x * w * w)], [x], create_graph=True)
        (gw,) = gradients([af.sum(gx * gx)], [w])
        # gx_i = sum(w^2) = 5; d/dw sum_i gx_i^2 = 2 rows * 2 * 5 * 2 w
        assert gw.numpy().tolist() == [40.0, 80.0]

    def test_gradients_of_results_and_of_what_no_path_reaches(self, device):
        x, unused = leaf([2.0], device), leaf([1.0], device)
        h = x * x
        gh, gx, nothing = gradients([af.sum(h * h)], [h, x, unused])
        assert gh.numpy().tolist() == [8.0]
        assert gx.numpy().tolist() == [32.0]
        assert nothing is None
        assert x.grad is None


class TestMemory:
    @pytest.fixture(autouse=True)
    def collector_off(self):
        gc.collect()
        gc.disable()
        yield
        gc.enable()

    def test_reference_counting_alone_frees_a_graph(self, device):
        x = leaf([1.0, 2.0], device)
        h = af.exp(x * 2)
        h.retain_grad()
        y = af.sum(h * h)
        alive = [weakref.ref(v) for v in (h, y)]
        node = weakref.ref(y)
        y.backward(retain_graph=True)
        del h, y
        assert [r() for r in alive] == [None, None]
        assert node() is None

    def test_an_unused_graph_is_freed_without_a_sweep(self, device):
        x = leaf([1.0], device)
        y = af.exp(af.exp(x))
        watched = weakref.ref(y)
        gone = gc.get_count()
        del y
        assert watched() is None
        assert gone is not None
        assert gc.collect() == 0 or watched() is None

    def test_a_recorded_sweep_leaves_no_cycle(self, device):
        x = leaf([1.0, 2.0], device)
        y = af.sum(af.exp(x) * x)
        (g,) = gradients([y], [x], create_graph=True)
        (gg,) = gradients([af.sum(g)], [x])
        alive = [weakref.ref(v) for v in (x, y, g, gg)]
        del x, y, g, gg
        assert [r() for r in alive] == [None] * 4

    def test_a_chain_of_100_000_operations_is_swept_and_freed(self):
        x = af.asarray(1.0, device="cpu", requires_grad=True)
        y = x
        for _ in range(100_000):
            y = y + 1.0
        y.backward()
        assert float(x.grad) == 1.0

    def test_a_rule_keeps_only_what_it_names(self):
        x = af.asarray([1.0, 2.0], device="cpu", requires_grad=True)
        h = x * 2.0  # keeps the 2.0
        array = weakref.ref(h.array)
        y = af.exp(h)  # keeps its output, not h
        del h
        assert array() is None
        af.sum(y).backward()
        assert x.grad is not None


class TestInPlace:
    def test_writing_into_an_operand_leaves_the_recorded_value(self, device):
        x = leaf([1.0, 2.0], device)
        factor = af.asarray([3.0, 4.0], device=device)
        y = af.sum(x * factor)
        factor[0] = 100.0
        y.backward()
        assert x.grad.numpy().tolist() == [3.0, 4.0]

    def test_an_update_between_forward_and_backward_is_an_error(self):
        from arrayflow import optimizers

        p = af.Parameter([1.0, 2.0], device="cpu", name="w")
        optimizer = optimizers.SGD(lr=0.1).setup([p])
        early = af.sum(p * p)
        af.sum(p * p).backward()
        optimizer.update()
        with pytest.raises(GraphError, match=r"'w' was changed in place by an optimizer, or moved, after multiply\(\)"):
            early.backward()

    def test_an_update_of_another_model_is_none(self):
        from arrayflow import optimizers

        p, q = af.Parameter([1.0], device="cpu"), af.Parameter([1.0], device="cpu")
        y = af.sum(p * p)
        optimizers.SGD(lr=0.1).setup([q]).update(lambda: af.sum(q * q))
        y.backward()
        assert p.grad.numpy().tolist() == [2.0]


class TestThreads:
    def test_graphs_built_at_the_same_time_do_not_meet(self):
        failures = []

        def work(k):
            try:
                for _ in range(50):
                    x = af.asarray([float(k)], device="cpu", requires_grad=True)
                    af.sum(x * x * x).backward()
                    assert x.grad.numpy().tolist() == [3.0 * k * k]
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failures
