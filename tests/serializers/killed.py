"""A program for test_atomic.py: kills saving processes at random moments, and looks at what each leaves behind.

Usage: ``python killed.py FOLDER KILLS``. It prints how many kills hit a save half-way.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

import numpy as np

from arrayflow.serializers import read_npz, save_npz
from arrayflow.serializers._atomic import PREFIX


def state(value: float) -> dict[str, np.ndarray]:
    return {f"array{i}": np.full(5_000 + i, value) for i in range(8)}


def save_for_ever(path: str, ready: int) -> None:
    states = [state(1.0), state(2.0)]
    save_npz(path, states[0], compression=False)
    os.write(ready, b"1")
    while True:
        for one in reversed(states):
            save_npz(path, one, compression=False)


def complete(path: str) -> float:
    """Which of the two states the file holds, all of it."""
    found = read_npz(path)
    (value,) = {float(x) for array in found.values() for x in (array.min(), array.max())}
    expected = state(value)
    if value not in (1.0, 2.0) or {k: v.shape for k, v in found.items()} != {k: v.shape for k, v in expected.items()}:
        raise SystemExit(f"neither of the two states: {value}")
    return value


def main(folder: str, kills: int) -> None:
    path = os.path.join(folder, "model.npz")
    rng = random.Random(0)
    seen, half_way = set(), 0
    for _ in range(kills):
        there, here = os.pipe()
        child = os.fork()
        if child == 0:
            save_for_ever(path, here)
        os.close(here)
        os.read(there, 1)
        os.close(there)
        time.sleep(rng.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        seen.add(complete(path))
        left = [name for name in os.listdir(folder) if name != "model.npz"]
        if any(not name.startswith(PREFIX) for name in left) or len(left) > 1:
            raise SystemExit(f"unexpected files: {left}")  # each child cleans up after the one before
        half_way += len(left)
    save_npz(path, state(1.0))
    print(f"seen {sorted(seen)}, {half_way} half-way, left {os.listdir(folder)}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
