"""The ledger: what moved, which way, from which line."""

import threading

import pytest

import arrayflow as af
from arrayflow.transfers import Ledger, record

DEV = "strict:device1"


def here():
    import inspect

    return inspect.currentframe().f_back.f_lineno


class TestLedger:
    def test_an_event_names_the_user_s_line(self):
        x = af.ones((3,), device="cpu")
        with af.transfers() as ledger:
            af.to_device(x, DEV); line = here()  # fmt: skip  # noqa: E702
        (entry,) = ledger.entries
        assert entry.site == f"{__file__}:{line}"
        assert (entry.direction, entry.kind, entry.count, entry.bytes) == ("h2d", "explicit", 1, 12)

    @pytest.mark.parametrize(
        ("read", "kind"),
        [
            (float, "implicit"),
            (int, "implicit"),
            (bool, "implicit"),
            (lambda x: f"{x:.1f}", "implicit"),
            (lambda x: x.item(), "explicit"),
            (lambda x: x.numpy(), "explicit"),
        ],
    )
    def test_reads_on_a_device_are_events_and_on_the_host_none(self, device, read, kind):
        x = af.asarray(2.0, device=device)
        with af.transfers() as ledger:
            read(x)
        if device == "cpu":
            assert ledger.count == 0
        else:
            (entry,) = ledger.entries
            assert (entry.direction, entry.kind, entry.count, entry.bytes) == ("d2h", kind, 1, 4)

    def test_constants_scalars_slices_and_int_indexes_move_nothing(self, device):
        with af.transfers() as ledger:
            x = af.zeros((4,), device=device) + 1
            y = x[0] + x[1:3] * 2.0 - af.full((2,), 3.0, device=device) + af.arange(2, device=device)
            af.sum(y)
            repr(x.shape)
        assert ledger.count == 0

    def test_it_grows_with_lines_not_with_steps(self):
        x = af.asarray(1.0, device=DEV)
        with af.transfers() as ledger:
            for _ in range(1000):
                float(x)
        assert len(ledger.entries) == 1
        assert (ledger.count, ledger.bytes) == (1000, 4000)
        assert ledger.total("d2h") == (1000, 4000)
        assert ledger.total("h2d") == (0, 0)

    def test_nested_ledgers_both_see_and_the_outer_sees_more(self):
        x = af.asarray(1.0, device=DEV)
        with af.transfers() as outer:
            float(x)
            with af.transfers() as inner:
                float(x)
        float(x)
        assert (outer.count, inner.count) == (2, 1)

    def test_a_failed_move_is_no_event(self):
        x = af.asarray([1.0], dtype=af.float64, device="cpu")
        with af.transfers() as ledger, pytest.raises(TypeError, match="no float64"):
            af.to_device(x, "strict:no_float64")
        assert ledger.count == 0

    def test_another_thread_s_events_stay_out(self):
        x = af.asarray(1.0, device=DEV)
        with af.transfers() as ledger:
            thread = threading.Thread(target=float, args=(x,))
            thread.start()
            thread.join()
        assert ledger.count == 0

    def test_it_prints_as_a_table_with_totals(self):
        with af.transfers() as ledger:
            pass
        assert str(ledger) == "nothing moved"
        x = af.asarray(1.0, device=DEV)
        with af.transfers() as ledger:
            float(x)
        head, row, total = str(ledger).splitlines()
        assert head.split() == ["moves", "bytes", "way", "kind", "from", "to", "by", "line"]
        assert row.split()[:7] == ["1", "4", "d2h", "implicit", DEV, "cpu", "float()"]
        assert total.split() == ["1", "4", "in", "all"]

    def test_events_from_many_threads_are_all_counted(self):
        ledger = Ledger()

        def work():
            for _ in range(2000):
                ledger.add(None, "d2h", "explicit", "a", "b", "test", 1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(ledger.entries) == 1
        assert ledger.count == 8000

    def test_recording_without_a_ledger_is_cheap(self):
        import timeit

        cost = (
            min(timeit.repeat(lambda: record("d2h", "explicit", "a", "b", "test", 1), number=10_000, repeat=5)) / 10_000
        )
        assert cost < 5e-6
