"""Replacing a file in one step: at every moment, also when the process is killed, the name holds a complete file."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed and so needs no lock
    fcntl = None  # type: ignore[assignment]

__all__ = ["PREFIX", "replacing"]

PREFIX = ".arrayflow-tmp-"

# What the system says where a file system has no locks, or a folder cannot be synced.
_UNSUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EBADF)


@contextmanager
def replacing(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> Iterator[BinaryIO]:
    """Write a file that takes the place of `path` when the block ends, and only if it ends well.

    The bytes go to a temporary file in the same folder, which is synced to the disk and then renamed; the folder
    is synced too. A symbolic link stays one: what it points to is replaced. The permissions of an existing file
    are kept. What killed processes left behind for the same target is removed first.
    A device or a pipe is no file that could be replaced: it is written straight.
    """
    target = os.path.realpath(os.fsdecode(path))
    try:
        old: os.stat_result | None = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None:
        if stat.S_ISDIR(old.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
        if not stat.S_ISREG(old.st_mode):
            with open(target, "wb") as stream:
                yield _Straight(stream)  # type: ignore[misc]
            return
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), target)
    folder, name = os.path.split(target)
    _remove_leftovers(folder, name)
    temporary, descriptor = _create(folder, name, target)
    try:
        with open(descriptor, "wb") as stream:
            if old is not None:
                _copy_permissions(old, stream.fileno())
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if fcntl is not None:
                # While the lock is held: a leftover is a file that nobody has locked.
                os.replace(temporary, target)
        if fcntl is None:
            os.replace(temporary, target)  # Windows renames closed files only
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


class _Straight:
    """A stream to a device or a pipe, without the positions that only some of them pretend to have."""

    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write
        self.flush = stream.flush


def _tag(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:12]


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            return stream.read().strip()
    except OSError:
        return socket.gethostname()  # no Linux: the host's name alone has to tell


def _create(folder: str, name: str, target: str) -> tuple[str, int]:
    """A new, locked temporary file for `name`: its path and descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        # A digest stands for the name, which may itself be as long as a name can be.
        parts = (_tag(name), _tag(socket.gethostname()), _tag(_boot()), str(os.getpid()), secrets.token_hex(4))
        path = os.path.join(folder, f"{PREFIX}{'-'.join(parts)}")
        try:
            descriptor = os.open(path, flags, 0o666)  # less the umask, as for any new file
        except FileExistsError:
            continue
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror} (a file is written beside its target)", target) from error
        # Another process may take it for a leftover between its creation and its lock: then try again.
        if _lock(descriptor) is not False and _is_there(path, descriptor):
            return path, descriptor
        os.close(descriptor)


def _lock(descriptor: int) -> bool | None:
    """Lock a file as long as it is open, by a live process: True, False if another has it, None without locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return None
        raise
    return True


def _is_there(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove_leftovers(folder: str, name: str) -> None:
    """Remove temporary files for `name` that are certainly ours and that no live process writes.

    They carry our prefix, the name's digest, and this host's name or this boot of its kernel; and nobody
    holds their lock, which the system releases when a process dies, however it dies.
    """
    host, boot = _tag(socket.gethostname()), _tag(_boot())
    try:
        names = [n for n in os.listdir(folder) if n.startswith(f"{PREFIX}{_tag(name)}-")]
    except OSError:
        return  # a folder that can be written but not listed
    for leftover in names:
        parts = leftover.removeprefix(PREFIX).split("-")
        if len(parts) == 5 and (parts[1] == host or parts[2] == boot):
            with contextlib.suppress(OSError):
                _remove_unlocked(os.path.join(folder, leftover))


def _remove_unlocked(path: str) -> None:
    if fcntl is None:
        os.unlink(path)  # fails while a process has it open
        return
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor) is True:
            os.unlink(path)
    finally:
        os.close(descriptor)


def _copy_permissions(old: os.stat_result, descriptor: int) -> None:
    if not hasattr(os, "fchmod"):
        return
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(PermissionError):  # only root may give files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)
