"""The main job on each device."""

import json
import re
import zipfile

import pytest

EPOCHS = 20


def train(run_example, device, folder):
    """What the main job printed on a device, and the loss of each of its steps."""
    done = run_example(device, "digits", "--losses", folder / "losses.json")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout, json.loads((folder / "losses.json").read_text())


@pytest.fixture(scope="session")
def losses_on_the_host(run_example, tmp_path_factory):
    return train(run_example, "cpu", tmp_path_factory.mktemp("host"))[1]


def ledger(stdout):
    """Rows of the table at the end: (moves, bytes, way, kind, by, file:line)."""
    rows = [line.split() for line in stdout.partition("What moved between devices:\n")[2].splitlines()]
    return [
        (int(r[0]), int(r[1].replace(",", "")), r[2], r[3], r[6], r[7]) for r in rows if len(r) >= 8 and r[0] != "moves"
    ]


class TestDigits:
    def test_it_learns_alike_on_every_device_verifies_and_shows_what_moved(
        self, run_example, device, losses_on_the_host, tmp_path
    ):
        stdout, losses = train(run_example, device, tmp_path)

        assert len(re.findall(r"^epoch +\d+/20  loss \d\.\d{4}  test accuracy \d+\.\d\d%$", stdout, re.M)) == EPOCHS
        assert float(re.search(rf"^test accuracy (\d+\.\d\d)% on {device}$", stdout, re.M)[1]) >= 97
        assert "saved, loaded into a fresh model and verified: the outputs are equal bit by bit\n" in stdout

        assert len(losses) == EPOCHS * (1437 // 32)
        assert losses[:50] == pytest.approx(losses_on_the_host[:50], abs=1e-4)

        rows = ledger(stdout)
        if device.is_host:
            assert stdout.endswith("What moved between devices:\nnothing moved\n")
            return
        assert [(count, way, by) for count, _, way, _, by, _ in rows] == [
            (4, "h2d", "to_device"),  # images and labels, for training and for testing
            (EPOCHS, "h2d", "random"),  # the order of each epoch
            (2, "h2d", "random"),  # first weights; biases are made in place, and the fresh model's come from the file
            (EPOCHS, "d2h", "numpy()"),  # loss and accuracy, together, once an epoch
            (4, "d2h", "save_npz"),
            (4, "h2d", "load_npz"),
            (1, "d2h", "item()"),  # whether the outputs are equal
        ]
        weights = 4 * (64 * 256 + 256 * 10)
        biases = 4 * (256 + 10)
        order = 1437 * (8 if "int64" in device.backend.dtypes_on(device.native) else 4)
        moved = [1797 * 64 + 1797 * 4, EPOCHS * order, weights, EPOCHS * 8, weights + biases, weights + biases, 1]
        assert [row[1] for row in rows] == moved
        assert {kind for _, _, _, kind, _, _ in rows} == {"explicit"}
        assert all(re.search(r"arrayflow.examples.digits\.py:\d+$", site) for *_, site in rows)


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
