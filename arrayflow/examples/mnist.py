"""Train Chainer's MNIST net, 784-1000-1000-10 with Adam in batches of 100, on the real 70,000 images.

    python -m arrayflow.examples.mnist --data FOLDER     # the four gzipped IDX files are there
    python -m arrayflow.examples.mnist --download        # or are fetched (needs: pip install pooch)

The loop is that of `arrayflow.examples.digits`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import arrayflow as af
from arrayflow import functions as F
from arrayflow import links as L
from arrayflow import optimizers, serializers
from arrayflow.data import load_mnist
from arrayflow.examples.digits import fit, parser, report

BATCH = 100
FLOOR = 0.98  # test accuracy after 5 epochs; less is a failure


def build():
    return L.Sequential(L.Linear(784, 1000), F.relu, L.Linear(1000, 1000), F.relu, L.Linear(1000, 10))


def as_input(images):
    """(N, 28, 28) uint8 in [0, 255] -> (N, 784) float32 in [0, 1], on the device where the images are."""
    return af.reshape(af.astype(images, af.float32), (-1, 784)) / 255


def main(argv=None):
    p = parser("Train Chainer's MNIST net.", epochs=5)
    p.add_argument("--data", type=Path, default=Path("~/.cache/arrayflow/mnist"), help="folder of the IDX files")
    p.add_argument("--download", action="store_true", help="fetch the files that are missing there")
    args = p.parse_args(argv)
    af.seed(args.seed)
    device = af.default_device()
    try:
        on_host = load_mnist(args.data, download=args.download)
    except (OSError, ImportError, af.FileFormatError) as error:  # the text says what to do
        sys.exit(str(error))

    with af.transfers() as ledger:
        train, test = af.to_device(on_host, device)
        model = build().to_device(device)
        optimizer = optimizers.Adam(lr=1e-3).setup(model)
        share, losses = fit(model, optimizer, train, test, as_input, BATCH, args.epochs, quiet=args.quiet)
        if args.save:
            serializers.save_npz(args.save, model)
    return report(args, device, share, FLOOR, losses, ledger)


if __name__ == "__main__":
    sys.exit(main())
