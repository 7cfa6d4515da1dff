"""How long one training step takes, as a ratio to PyTorch eager: fresh processes in turn, medians, round by round.

    python tests/benchmarks/steps.py                  # both nets, 7 rounds
    python tests/benchmarks/steps.py tiny --rounds 15
    python tests/benchmarks/steps.py mnist --device torch:cpu

Both frameworks start from the same parameters and see the same batches, so their losses must agree; the
table shows the loss after 10 steps of each. Run it on a quiet machine: PyTorch's threads wait for one another.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time

NETS = {
    "tiny": {"sizes": (64, 32, 32, 10), "batch": 32, "optimizer": "sgd", "lr": 1e-2, "bound": 0.30},
    "mnist": {"sizes": (784, 1000, 1000, 10), "batch": 100, "optimizer": "adam", "lr": 1e-3, "bound": 1.0},
}
BATCHES = 8


def data_and_parameters(net):
    import numpy as np

    r = np.random.RandomState(1)
    sizes, batch = net["sizes"], net["batch"]
    xs = [r.rand(batch, sizes[0]).astype(np.float32) for _ in range(BATCHES)]
    ts = [r.randint(0, sizes[-1], batch).astype(np.int64) for _ in range(BATCHES)]
    weights = [(r.randn(o, i) / np.sqrt(i)).astype(np.float32) for i, o in itertools.pairwise(sizes)]
    return xs, ts, weights


def torch_step(net, device):
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    xs, ts, weights = data_and_parameters(net)
    layers = []
    for w in weights:
        layer = torch.nn.Linear(w.shape[1], w.shape[0])
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(w))
            layer.bias.zero_()
        layers += [layer, torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    cls = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[net["optimizer"]]
    optimizer = cls(model.parameters(), lr=net["lr"])
    xs = [torch.from_numpy(x) for x in xs]
    ts = [torch.from_numpy(t) for t in ts]
    cross_entropy = torch.nn.functional.cross_entropy

    def step(i):
        loss = cross_entropy(model(xs[i]), ts[i])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    return step, lambda loss: float(loss.detach())


def arrayflow_step(net, device):
    import arrayflow as af
    from arrayflow import functions as F
    from arrayflow import links as L
    from arrayflow import optimizers

    xs, ts, weights = data_and_parameters(net)
    layers = []
    for w in weights:
        layer = L.Linear(w.shape[1], w.shape[0], device=device)
        layer.weight.array = af.asarray(w, device=device)
        layers += [layer, F.relu]
    model = L.Sequential(*layers[:-1])
    cls = {"sgd": optimizers.SGD, "adam": optimizers.Adam}[net["optimizer"]]
    optimizer = cls(lr=net["lr"]).setup(model)
    xs = [af.asarray(x, device=device) for x in xs]
    ts = [af.asarray(t, device=device) for t in ts]

    def step(i):
        loss = F.softmax_cross_entropy(model(xs[i]), ts[i])
        model.cleargrads()
        loss.backward()
        optimizer.update()
        return loss

    return step, float


def worker(framework, net, device, seconds):
    """Print one line of JSON: the median time of a step and the tenth loss."""
    step, read = {"torch": torch_step, "arrayflow": arrayflow_step}[framework](NETS[net], device)
    losses = [read(step(i % BATCHES)) for i in range(10)]
    end = time.perf_counter() + seconds / 2
    while time.perf_counter() < end:
        step(0)
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for i in range(BATCHES):
            loss = step(i)
        read(loss)
        times.append((time.perf_counter() - start) / BATCHES)
    print(json.dumps({"step": statistics.median(times), "loss": losses[-1]}))


def run(framework, net, device, seconds):
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    command = [sys.executable, __file__, net, "--worker", framework, "--device", device, "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{framework} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(net, device, rounds, seconds):
    """Median ratio arrayflow / torch over rounds, each of one fresh process of both in turn."""
    ratios, steps = [], {"torch": [], "arrayflow": []}
    for _ in range(rounds):
        one = {framework: run(framework, net, device, seconds) for framework in ("torch", "arrayflow")}
        for framework, result in one.items():
            steps[framework].append(result["step"])
        ratios.append(one["arrayflow"]["step"] / one["torch"]["step"])
    ours, theirs = (statistics.median(steps[k]) * 1e6 for k in ("arrayflow", "torch"))
    ratio = statistics.median(ratios)
    print(
        f"{net:6} on {device}: arrayflow {ours:8.1f} us, torch eager {theirs:8.1f} us a step; ratio {ratio:.3f} "
        f"({min(ratios):.3f}-{max(ratios):.3f}, {rounds} rounds; asked: {NETS[net]['bound']}); "
        f"tenth loss {one['arrayflow']['loss']:.5f} and {one['torch']['loss']:.5f}"
    )
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", nargs="?", choices=list(NETS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--worker", choices=["torch", "arrayflow"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.worker, args.net, args.device, args.seconds)
        return
    for net in [args.net] if args.net else list(NETS):
        compare(net, args.device, args.rounds, args.seconds)


if __name__ == "__main__":
    main()
