"""At every moment the name holds a complete file: the last one saved, or the one before."""

from __future__ import annotations

import errno
import io
import os
import pathlib
import re
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from arrayflow.errors import FileFormatError
from arrayflow.serializers import _atomic, load_npz, read_npz, save_npz

KILLS = int(os.environ.get("ARRAYFLOW_KILLS", "60"))
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals, links and permissions")


@pytest.fixture
def path(tmp_path):
    """A file with a 1 in it, alone in its folder."""
    save_npz(tmp_path / "m.npz", {"x": 1})
    return tmp_path / "m.npz"


def leftover(path: pathlib.Path, *, host: str | None = None, boot: str | None = None) -> pathlib.Path:
    """What a killed process leaves beside `path`."""
    found, descriptor = _atomic._create(str(path.parent), path.name, str(path))
    os.close(descriptor)
    parts = os.path.basename(found).split("-")
    parts[3] = host or parts[3]
    parts[4] = boot or parts[4]
    return pathlib.Path(found).rename(path.with_name("-".join(parts)))


class Unreadable:
    """Like a link whose device fails while it is read."""

    def _state_slots(self):
        from arrayflow.dtypes import DTYPES
        from arrayflow.slots import Slot

        def fail():
            raise RuntimeError("device lost")

        return {
            "a": Slot(lambda: np.ones(100_000), fail, DTYPES["float64"], (100_000,)),
            "b": Slot(fail, fail, DTYPES["float64"], (2,)),
        }


class TestKilled:
    @posix
    def test_a_process_killed_while_saving_leaves_a_complete_file(self, tmp_path):
        program = pathlib.Path(__file__).with_name("killed.py")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run(
            [sys.executable, program, tmp_path, str(KILLS)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        match = re.fullmatch(r"seen \[(.*)\], (\d+) half-way, left \['model.npz'\]\n", done.stdout)
        assert match, done.stdout
        assert match[1] == "1.0, 2.0"
        assert int(match[2]) > KILLS // 10


class TestFailure:
    def test_the_old_file_stays_and_nothing_else(self, path):
        before = path.read_bytes()
        with pytest.raises(RuntimeError, match="device lost"):
            save_npz(path, Unreadable())
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]

    def test_a_part_in_a_file_object_is_not_taken_for_the_whole(self):
        file = io.BytesIO()
        with pytest.raises(RuntimeError, match="device lost"):
            save_npz(file, Unreadable())
        assert len(file.getvalue()) > 100
        with pytest.raises(FileFormatError, match="damaged or truncated"):
            read_npz(file)

    def test_a_first_save_that_fails_leaves_nothing(self, tmp_path):
        with pytest.raises(RuntimeError, match="device lost"):
            save_npz(tmp_path / "new.npz", Unreadable())
        assert os.listdir(tmp_path) == []

    @posix
    @pytest.mark.parametrize("compression", [True, False])
    def test_no_space_left_leaves_the_old_file(self, path, compression):
        import resource

        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                save_npz(path, {"x": np.random.default_rng(0).random(50_000)}, compression=compression)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]

    def test_a_disk_that_fails_to_sync_leaves_the_old_file(self, path, monkeypatch):
        before = path.read_bytes()

        def fail(descriptor):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="Input/output error"):
            save_npz(path, {"x": 2})
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]

    def test_a_missing_folder_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"beside its target\): '.*nowhere/m.npz'"):
            save_npz(tmp_path / "nowhere" / "m.npz", {})

    def test_a_folder_is_no_target(self, tmp_path):
        with pytest.raises(IsADirectoryError):
            save_npz(tmp_path, {})

    @posix
    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_a_device_file_is_written_and_not_replaced(self):
        with pytest.raises(OSError, match="No space left"):
            save_npz("/dev/full", {"x": np.random.default_rng(0).random(10_000)})
        assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
        save_npz("/dev/null", {"x": 1})
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


class TestOrder:
    def test_the_file_is_synced_then_renamed_then_the_folder_is_synced(self, path, monkeypatch):
        calls = []
        sync, replace = os.fsync, os.replace

        def fsync(descriptor):
            calls.append("sync folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "sync file")
            sync(descriptor)

        def rename(old, new):
            calls.append("rename")
            assert os.path.dirname(old) == os.path.dirname(new)
            assert read_npz(old)["x"] == 2
            replace(old, new)

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "replace", rename)
        save_npz(path, {"x": 2})
        assert calls == ["sync file", "rename", "sync folder"]


class TestLeftovers:
    def test_the_next_save_to_the_same_path_removes_them(self, path):
        other = path.with_name("other.npz")
        left = [leftover(path), leftover(path, host="0" * 12), leftover(path, boot="0" * 12)]
        kept = [
            leftover(other),
            leftover(path, host="0" * 12, boot="0" * 12),  # another host's
            path.with_name(".arrayflow-tmp-mine"),
            path.with_name("m.npz.tmp"),
        ]
        for file in kept[2:]:
            file.write_text("mine")
        save_npz(path, {"x": 2})
        assert not any(file.exists() for file in left)
        assert all(file.exists() for file in kept)

    @posix
    def test_one_that_a_live_process_writes_is_left_alone(self, path):
        program = (
            "import sys; from arrayflow.serializers._atomic import replacing\n"
            "with replacing(sys.argv[1]) as stream:\n"
            "    stream.write(b'theirs'); print('ready', flush=True); sys.stdin.readline()\n"
        )
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        with subprocess.Popen(
            [sys.executable, "-c", program, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        ) as process:
            assert process.stdout.readline() == "ready\n"
            save_npz(path, {"x": 2})
            assert read_npz(path)["x"] == 2
            assert len(os.listdir(path.parent)) == 2
            process.communicate("\n")
        assert path.read_bytes() == b"theirs"
        assert os.listdir(path.parent) == [path.name]

    @posix
    def test_a_link_with_such_a_name_is_not_followed(self, path):
        file = leftover(path)
        file.unlink()
        precious = path.with_name("precious")
        precious.write_text("x")
        file.symlink_to(precious)
        save_npz(path, {"x": 2})
        assert precious.read_text() == "x"

    def test_a_file_system_without_locks_keeps_them(self, path, monkeypatch):
        if _atomic.fcntl is None:
            pytest.skip("no locks here at all")
        left = leftover(path)

        def flock(descriptor, how):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(_atomic.fcntl, "flock", flock)
        save_npz(path, {"x": 2})
        assert read_npz(path)["x"] == 2
        assert left.exists()

    def test_one_that_is_taken_away_at_birth_is_made_again(self, path, monkeypatch):
        lock = _atomic._lock
        taken = []

        def late(descriptor):
            if not taken:
                (name,) = (n for n in os.listdir(path.parent) if n.startswith(_atomic.PREFIX))
                os.unlink(path.with_name(name))
                taken.append(name)
            return lock(descriptor)

        monkeypatch.setattr(_atomic, "_lock", late)
        save_npz(path, {"x": 2})
        assert read_npz(path)["x"] == 2
        assert os.listdir(path.parent) == [path.name]


@posix
class TestLinksAndPermissions:
    def test_a_symbolic_link_stays_one(self, path, tmp_path):
        (tmp_path / "links").mkdir()
        link = tmp_path / "links" / "latest.npz"
        link.symlink_to("../m.npz")
        save_npz(link, {"x": 2})
        assert link.is_symlink()
        assert read_npz(path)["x"] == 2
        assert os.listdir(link.parent) == ["latest.npz"]

    def test_a_link_to_nothing_makes_its_target(self, tmp_path):
        link = tmp_path / "latest.npz"
        link.symlink_to("new.npz")
        save_npz(link, {"x": 2})
        assert link.is_symlink()
        assert read_npz(tmp_path / "new.npz")["x"] == 2

    def test_links_in_a_circle_are_an_error(self, tmp_path):
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(OSError, match="symbolic links"):
            save_npz(tmp_path / "a", {})

    def test_a_new_file_has_the_permissions_of_any_new_file(self, tmp_path):
        old = os.umask(0o027)
        try:
            save_npz(tmp_path / "m.npz", {})
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "m.npz").stat().st_mode) == 0o640

    def test_the_permissions_of_an_existing_file_are_kept(self, path):
        path.chmod(0o604)
        save_npz(path, {"x": 2})
        assert stat.S_IMODE(path.stat().st_mode) == 0o604

    @pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root may give files away")
    def test_the_owner_of_an_existing_file_is_kept(self, path):
        os.chown(path, 1234, 1235)
        save_npz(path, {"x": 2})
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)

    def test_a_file_that_may_not_be_written_is_not_replaced(self, path, monkeypatch):
        monkeypatch.setattr(os, "access", lambda p, mode: False)  # root may write all
        with pytest.raises(PermissionError, match="Permission denied"):
            save_npz(path, {"x": 2})
        assert read_npz(path)["x"] == 1

    def test_a_name_as_long_as_names_can_be(self, tmp_path):
        path = tmp_path / ("m" * 255)
        save_npz(path, {"x": 1})
        assert os.listdir(tmp_path) == [path.name]


class TestThreads:
    def test_the_last_of_several_savers_wins_and_never_a_mix(self, path):
        writers = 4
        stop = threading.Event()
        errors: list[BaseException] = []

        def save(value):
            try:
                for _ in range(15):
                    save_npz(path, {"x": value, "y": np.full(20_000, value)}, compression=False)
            except BaseException as error:
                errors.append(error)

        def load():
            try:
                while not stop.is_set():
                    state = {"x": 0, "y": np.zeros(20_000, dtype="int64")}
                    load_npz(path, state)
                    assert (state["y"] == state["x"]).all()
            except BaseException as error:
                errors.append(error)

        save(0)
        threads = [threading.Thread(target=save, args=(i,)) for i in range(1, writers)]
        reader = threading.Thread(target=load)
        for thread in (*threads, reader):
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        reader.join()
        assert errors == []
        assert os.listdir(path.parent) == [path.name]
        found = read_npz(path)
        assert (found["y"] == found["x"]).all()
