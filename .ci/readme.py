"""What README.md promises, for the gate: its two commands and its Python blocks.

python .ci/readme.py run      # the command that sets up and runs the main job
python .ci/readme.py test     # the command that sets up and runs the tests
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
_BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def command(name: str) -> str:
    """The shell block that follows ``<!-- command: NAME -->``."""
    found = re.findall(rf"<!-- command: {name} -->\n```sh\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise SystemExit(f"README.md must have one command marked {name!r}, but has {len(found)}.")
    return found[0]


def examples() -> list[tuple[int, str, str | None]]:
    """Each Python block: its line, its code, and the text block right after it, which is what it must print."""
    text = README.read_text()
    blocks = list(_BLOCK.finditer(text))
    found = []
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block["language"] == "python":
            printed = None
            if after is not None and after["language"] == "text" and not text[block.end() : after.start()].strip():
                printed = after["body"]
            found.append((text[: block.start()].count("\n") + 2, block["body"], printed))
    return found


if __name__ == "__main__":
    print(command(sys.argv[1]), end="")
