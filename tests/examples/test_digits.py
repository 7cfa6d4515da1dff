"""The main job on each device."""

import json
import re
import zipfile

import pytest

EPOCHS = 20


@pytest.fixture(scope="module")
def trained(run_example, tmp_path_factory):
    """The finished main job on a device and the loss of each of its steps; each device runs once."""
    known = {}

    def on(device):
        if device not in known:
            losses = tmp_path_factory.mktemp("losses") / "losses.json"
            done = run_example(device, "digits", "--losses", losses)
            assert done.returncode == 0, done.stdout + done.stderr
            known[device] = done.stdout, done.stderr, json.loads(losses.read_text())
        return known[device]

    return on


def ledger(stdout):
    """Rows of the table at the end: (moves, bytes, way, kind, by, file:line)."""
    rows = [line.split() for line in stdout.partition("What moved between devices:\n")[2].splitlines()]
    return [
        (int(r[0]), int(r[1].replace(",", "")), r[2], r[3], r[6], r[7]) for r in rows if len(r) >= 8 and r[0] != "moves"
    ]


class TestDigits:
    def test_it_learns_saves_and_verifies(self, trained, device):
        stdout, stderr, losses = trained(device)
        assert stderr == ""
        assert (
            len(re.findall(r"^epoch +\d+/20  loss \d\.\d{4}  test accuracy \d+\.\d\d%$", stdout, re.MULTILINE))
            == EPOCHS
        )
        assert float(re.search(rf"^test accuracy (\d+\.\d\d)% on {device}$", stdout, re.MULTILINE)[1]) >= 97
        assert "saved, loaded into a fresh model and verified" in stdout
        assert len(losses) == EPOCHS * (1437 // 32)

    def test_the_first_fifty_losses_are_those_of_the_host(self, trained, device):
        assert trained(device)[2][:50] == pytest.approx(trained("cpu")[2][:50], abs=1e-4)

    def test_it_ends_with_what_moved_from_which_line(self, trained, device):
        stdout = trained(device)[0]
        rows = ledger(stdout)
        if device == "cpu":
            assert stdout.endswith("What moved between devices:\nnothing moved\n")
            return
        assert {kind for _, _, _, kind, _, _ in rows} == {"explicit"}
        assert all(re.search(r"arrayflow.examples.digits\.py:\d+$", site) for *_, site in rows)
        # The images (uint8) and labels (int32) go up once; the loss and the accuracy come back once an epoch.
        assert (4, 1797 * 64 + 1797 * 4, "h2d", "explicit", "to_device") in [row[:5] for row in rows]
        assert (EPOCHS, EPOCHS * 8, "d2h", "explicit", "numpy()") in [row[:5] for row in rows]

    def test_the_moves_are_the_same_on_every_device(self, trained, device):
        if device != "cpu":
            # Bytes apart: where a device has no int64, the permutation takes half of them.
            found, expected = (
                [(n, *rest) for n, _, *rest in ledger(trained(d)[0])] for d in (device, "strict:device1")
            )
            assert found == expected


class TestOptions:
    def test_too_few_epochs_miss_the_floor_and_fail(self, run_example):
        done = run_example("cpu", "digits", "--epochs", 1, "--quiet")
        assert done.returncode == 1
        assert re.search(r"must be at least 97%, but is \d\d\.\d\d%\. Train for longer than --epochs 1\.", done.stderr)
        assert "epoch" not in done.stdout

    def test_the_model_is_kept_where_asked(self, run_example, tmp_path):
        done = run_example("cpu", "digits", "--quiet", "--save", tmp_path / "kept.npz")
        assert done.returncode == 0, done.stderr
        assert zipfile.ZipFile(tmp_path / "kept.npz").testzip() is None
        assert [path.name for path in tmp_path.iterdir()] == ["kept.npz"]

    def test_the_same_seed_gives_the_same_losses_and_another_gives_others(self, run_example, tmp_path):
        for name, seed in (("a", 3), ("b", 3), ("c", 4)):
            run_example("cpu", "digits", "--epochs", 1, "--seed", seed, "--losses", tmp_path / name)
        a, b, c = ((tmp_path / name).read_text() for name in "abc")
        assert a == b != c

    def test_a_device_that_does_not_exist_is_an_error_and_no_fall_back(self, run_example):
        done = run_example("nowhere:0", "digits")
        assert done.returncode != 0
        assert "ARRAYFLOW_DEVICE='nowhere:0'" in done.stderr
