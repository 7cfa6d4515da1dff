"""Steps over long arrays: as many threads as asked for, the same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import arrayflow
from arrayflow.backends import _numpy_chunks as chunks
from arrayflow.backends import _numpy_kernels as kernels


def state(size, seed=0):
    r = np.random.RandomState(seed)
    return [r.rand(size).astype(np.float32) for _ in range(4)]


@pytest.mark.parametrize("size", [1, chunks.CHUNK, 4 * chunks.CHUNK, 7 * chunks.CHUNK + 3])
def test_the_number_of_threads_changes_no_bit(size, monkeypatch):
    results = []
    for threads in ("1", "2", "3", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        arrays = state(size)
        kernels.adam(*arrays, lr=0.1, beta1=0.9, beta2=0.99, eps=1e-8, t=3)
        results.append([a.tobytes() for a in arrays])
    assert results[1:] == results[:1] * 3


def test_arrays_that_are_not_contiguous_are_stepped_in_place():
    p, g = np.ones((3, 4), np.float32).T, np.full((4, 3), 2.0, np.float32)
    chunks.in_chunks(lambda p, g: np.subtract(p, g, p), p, g)
    assert (p == -1).all()


def test_an_error_in_any_thread_comes_out(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    def step(a):
        if a[0] > 0:
            raise ValueError("boom")

    a = np.zeros(8 * chunks.CHUNK, np.float32)
    a[-chunks.CHUNK :] = 1
    with pytest.raises(ValueError, match="boom"):
        chunks.in_chunks(step, a)


_FORKS = """
import os
import numpy as np
from arrayflow.backends import _numpy_chunks as chunks

a = np.zeros(8 * chunks.CHUNK, np.float32)
chunks.in_chunks(lambda a: np.add(a, 1, a), a)
child = os.fork()
if not child:
    chunks.in_chunks(lambda a: np.add(a, 1, a), a)
    os._exit(0 if (a == 2).all() else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_threads_of_its_own():
    # In a process of its own: other libraries in this one may not be forked.
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": str(Path(arrayflow.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", _FORKS], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "0\n", done.stderr
