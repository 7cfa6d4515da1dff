"""Run every notebook from a fresh kernel, each in a folder of its own; the first cell that raises fails the gate."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "notebooks"


def main() -> int:
    found = sorted(FOLDER.glob("*.ipynb"))
    if not found:
        print("no notebooks")
        return 0
    import nbclient
    import nbformat

    failed = 0
    for path in found:
        with tempfile.TemporaryDirectory() as folder:
            notebook = nbformat.read(path, as_version=4)
            client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
            try:
                client.execute()
            except nbclient.exceptions.CellExecutionError as error:
                failed += 1
                print(f"{path.name} failed:\n{error}", file=sys.stderr)
            else:
                print(f"{path.name} runs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
