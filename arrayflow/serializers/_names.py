"""Which names an array may have in a file, so that every zip tool and ``numpy.load`` finds it under that very name."""

from __future__ import annotations

import re

__all__ = ["NOTES", "name_fault"]

NOTES = "__arrayflow__"  # the member that holds what .npy cannot say

_LONGEST = 60_000  # bytes; a zip archive counts names in 16 bits


def name_fault(name: str) -> str | None:
    """Why `name` cannot name an array in a file, in words; None where it can.

    Examples
    --------
    >>> name_fault("model/layers.1.bias"), name_fault("../x")
    (None, "its part '..' names a folder")
    """
    if not name:
        return "it is empty"
    if name == NOTES:
        return "this name is arrayflow's own"
    for part in name.split("/"):
        if part in ("", ".", ".."):
            return f"its part {part!r} names a folder"
    if "\\" in name or re.match("[A-Za-z]:/", name):
        return "a backslash or a drive letter makes it a path on Windows"
    if any(ord(c) < 32 or ord(c) == 127 for c in name):
        return "it holds a control character"
    if name.endswith(".npy"):
        return "a name that ends in '.npy' is not found again by numpy.load"
    try:
        data = name.encode("utf-8")
    except UnicodeEncodeError:
        return "it holds half a surrogate pair"
    return f"it takes more than {_LONGEST} bytes" if len(data) > _LONGEST else None
