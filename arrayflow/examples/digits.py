"""Train a small net on real handwritten digits, save it, load it again, and show every byte that moved.

    python -m arrayflow.examples.digits
    ARRAYFLOW_DEVICE=torch:cpu python -m arrayflow.examples.digits

The 1,797 images come with arrayflow. Every fifth of them is kept for testing, always the same ones.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import arrayflow as af
from arrayflow import functions as F
from arrayflow import links as L
from arrayflow import optimizers, serializers
from arrayflow.data import load_digits
from arrayflow.examples._progress import Progress

BATCH = 32
FLOOR = 0.97  # test accuracy below this is a failure


def build():
    return L.Sequential(L.Linear(64, 256), F.relu, L.Linear(256, 10))


def as_input(images):
    """(N, 8, 8) uint8 in [0, 16] -> (N, 64) float32 in [-1, 1], on the device where the images are."""
    return af.reshape(af.astype(images, af.float32), (-1, 64)) / 8 - 1


def train_epoch(model, optimizer, data, as_input, batch, bar):
    """One pass over the data in random order: the loss of each step, as Variables on the device."""
    n = data.images.shape[0]
    order = af.random.permutation(n, device=af.device_of(model))
    losses = []
    for start in range(0, n - batch + 1, batch):
        chosen = order[start : start + batch]
        x = as_input(af.take(data.images, chosen, axis=0))
        t = af.take(data.labels, chosen, axis=0)
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(loss.detach())
        bar.step()
    return losses


def accuracy(model, data, as_input):
    """The share of images that the model tells right, as a Variable on the device."""
    with af.no_grad(), af.using_config(train=False):
        return F.accuracy(model(as_input(data.images)), data.labels)


def fit(model, optimizer, train, test, as_input, batch, epochs, *, quiet=False):
    """Train, and report once an epoch: the test accuracy after the last, and the losses of all steps."""
    losses = []
    lr = optimizer.lr
    with Progress(epochs * (train.images.shape[0] // batch), quiet=quiet) as bar:
        for epoch in range(1, epochs + 1):
            optimizer.lr = lr * (1 - (epoch - 1) / epochs)  # smaller steps towards the end, so that it settles
            latest = af.stack(train_epoch(model, optimizer, train, as_input, batch, bar))
            losses.append(latest)
            # The one read of the epoch: both numbers come to the host together.
            loss, share = af.stack([af.mean(latest), accuracy(model, test, as_input)]).numpy().tolist()
            bar.note(f"epoch {epoch:2}/{epochs}  loss {loss:.4f}  test accuracy {share:.2%}")
    return share, af.concat(losses)


def save_and_verify(model, fresh, path, x):
    """Save `model`, load it into `fresh`, and tell whether both give the same outputs, bit by bit."""
    serializers.save_npz(path, model)
    serializers.load_npz(path, fresh)
    with af.no_grad(), af.using_config(train=False):
        return af.all(model(x) == fresh(x)).item()


def report(args, device, share, floor, losses, ledger):
    """Print the result and what moved; the exit code is 1 where the accuracy is below its floor."""
    if args.losses:
        args.losses.write_text(json.dumps(losses.numpy().tolist()))
    print(f"test accuracy {share:.2%} on {device}")
    print(f"\nWhat moved between devices:\n{ledger}")
    if share < floor:
        print(
            f"\nThe test accuracy must be at least {floor:.0%}, but is {share:.2%}. "
            f"Train for longer than --epochs {args.epochs}.",
            file=sys.stderr,
        )
        return 1
    return 0


def positive(text):
    """The type of options that count something; argparse turns the error into its usage line."""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def parser(about, epochs):
    """The options that the example programs share."""
    p = argparse.ArgumentParser(description=about, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("--epochs", type=positive, default=epochs, help="passes over the training images")
    p.add_argument("--seed", type=int, default=0, help="start of the random stream, the same on every device")
    p.add_argument("--save", type=Path, help="file to keep the trained model in (.npz)")
    p.add_argument("--quiet", action="store_true", help="show the result only")
    p.add_argument("--losses", type=Path, help=argparse.SUPPRESS)  # for tests: the loss of each step, as JSON
    return p


def main(argv=None):
    args = parser("Train a small net on handwritten digits.", epochs=20).parse_args(argv)
    af.seed(args.seed)
    device = af.default_device()

    with af.transfers() as ledger:
        train, test = af.to_device(load_digits(), device)
        model = build().to_device(device)
        optimizer = optimizers.Adam(lr=2e-3).setup(model)
        share, losses = fit(model, optimizer, train, test, as_input, BATCH, args.epochs, quiet=args.quiet)

        with tempfile.TemporaryDirectory() as folder:
            path = args.save or Path(folder, "digits.npz")
            if not save_and_verify(model, build().to_device(device), path, as_input(test.images)):
                sys.exit(f"The model loaded from {path} does not compute what the saved one does.")
    print("saved, loaded into a fresh model and verified: the outputs are equal bit by bit")
    return report(args, device, share, FLOOR, losses, ledger)


if __name__ == "__main__":
    sys.exit(main())
