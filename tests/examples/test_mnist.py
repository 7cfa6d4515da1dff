"""Chainer's MNIST net, on images made here in MNIST's format, and on the real ones where there are some."""

import gzip
import json
import os
import random
import re
import struct

import pytest

STEPS = 50


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """500 training and 100 test images: a bright square whose place is the class, in noise."""
    path = tmp_path_factory.mktemp("mnist")
    draw = random.Random(0)
    for stem, n in (("train", 500), ("t10k", 100)):
        classes = [draw.randrange(10) for _ in range(n)]
        images = bytearray(draw.randbytes(n * 784)).translate(bytes(v // 4 for v in range(256)))
        for i, c in enumerate(classes):
            row, column = 4 + 12 * (c // 5), 1 + 5 * (c % 5)
            for y in range(row, row + 5):
                images[784 * i + 28 * y + column : 784 * i + 28 * y + column + 5] = b"\xff" * 5
        head = struct.pack(">HBB3I", 0, 8, 3, n, 28, 28)
        (path / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(head + images, 1))
        head = struct.pack(">HBBI", 0, 8, 1, n)
        (path / f"{stem}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(head + bytes(classes)))
    return path


def train(run_example, device, folder, path):
    """The losses of the first steps on a device."""
    done = run_example(device, "mnist", "--data", folder, "--epochs", STEPS * 100 // 500, "--losses", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text())


@pytest.fixture(scope="session")
def losses_on_the_host(run_example, folder, tmp_path_factory):
    return train(run_example, "cpu", folder, tmp_path_factory.mktemp("host") / "losses.json")


class TestMnist:
    def test_the_first_fifty_losses_are_the_same_on_every_device(
        self, run_example, device, folder, losses_on_the_host, tmp_path
    ):
        losses = train(run_example, device, folder, tmp_path / "losses.json")
        assert len(losses) == STEPS
        assert losses == pytest.approx(losses_on_the_host, abs=1e-4)

    def test_without_the_files_it_says_where_to_get_them(self, run_example, tmp_path):
        done = run_example("cpu", "mnist", "--data", tmp_path)
        assert done.returncode == 1
        assert f"{tmp_path} lacks train-images-idx3-ubyte.gz" in done.stderr
        assert "https://" in done.stderr
        assert "--download" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.skipif(
        "ARRAYFLOW_MNIST" not in os.environ, reason="takes minutes; ARRAYFLOW_MNIST=FOLDER of the files"
    )
    def test_the_real_images_reach_98_percent(self, run_example):
        done = run_example("cpu", "mnist", "--data", os.environ["ARRAYFLOW_MNIST"])
        assert done.returncode == 0, done.stderr
        assert float(re.search(r"^test accuracy (\d+\.\d\d)% on cpu$", done.stdout, re.MULTILINE)[1]) >= 98
