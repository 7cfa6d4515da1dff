"""Fail unless every array library that runs on a CPU is usable: their tests must not be skipped in silence."""

import sys

import arrayflow as af

DEVICES = ("cpu", "torch:cpu", "jax:cpu:0", "dpnp:cpu", "strict:device1")


def main() -> int:
    missing = 0
    for name in DEVICES:
        try:
            total = af.sum(af.ones((3,), device=name)).item()
        except af.DeviceError as error:
            missing += 1
            print(f"{name}: {error}", file=sys.stderr)
        else:
            print(f"{name}: 1 + 1 + 1 = {total:g}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
