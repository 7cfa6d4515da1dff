"""Make the packaged digits out of scikit-learn's copy of the UCI test set, byte for byte the same each time.

    python .ci/make_digits.py SKLEARN/datasets/data/digits.csv.gz

Each line there is 64 pixels in [0, 16], then the label. The result is two IDX files, the format of MNIST's files.
"""

import gzip
import hashlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "arrayflow" / "data" / "files"


def write(name: str, shape: tuple[int, ...], values: bytes) -> None:
    head = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
    packed = gzip.compress(head + values, compresslevel=9, mtime=0)
    (FOLDER / name).write_bytes(packed)
    print(f"{name}: {len(packed):,} bytes, sha256 {hashlib.sha256(head + values).hexdigest()} unpacked")


def main() -> None:
    lines = gzip.decompress(Path(sys.argv[1]).read_bytes()).decode().split()
    rows = [[int(float(v)) for v in line.split(",")] for line in lines]
    if len(rows) != 1797 or any(len(row) != 65 or max(row[:64]) > 16 or row[64] > 9 for row in rows):
        sys.exit("This is not the file of 1,797 rows of 64 pixels in [0, 16] and a label.")
    write("digits-images-idx3-ubyte.gz", (len(rows), 8, 8), bytes(v for row in rows for v in row[:64]))
    write("digits-labels-idx1-ubyte.gz", (len(rows),), bytes(row[64] for row in rows))


if __name__ == "__main__":
    main()
