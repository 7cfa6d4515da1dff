"""The benchmark compares like with like; its bounds hold where ``ARRAYFLOW_BENCHMARKS=1`` says the machine is quiet."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("steps", Path(__file__).with_name("steps.py"))
steps = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(steps)


@pytest.mark.parametrize("net", list(steps.NETS))
def test_both_frameworks_do_the_same_work(net, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is what is compared with")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    losses = []
    for make in (steps.torch_step, steps.arrayflow_step):
        step, read = make(steps.NETS[net], "cpu")
        losses.append([read(step(i % steps.BATCHES)) for i in range(5)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


@pytest.mark.skipif(os.environ.get("ARRAYFLOW_BENCHMARKS") != "1", reason="timings need a quiet machine")
@pytest.mark.parametrize("net", list(steps.NETS))
def test_a_step_takes_at_most_its_share_of_pytorch_eager_s(net):
    assert steps.compare(net, "cpu", rounds=7, seconds=1.0) <= steps.NETS[net]["bound"]
