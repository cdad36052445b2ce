"""Files are whole or absent, whatever happens while they are written."""

import builtins
import itertools
import os
import stat
import threading

import pytest

from protolearn._files import finish_replacing, replacing, replacing_files

posix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and modes of POSIX")


def write(target, text):
    with replacing(target) as path:
        path.write_text(text)


def test_an_error_leaves_the_old_file(tmp_path):
    target = tmp_path / "folder" / "a.txt"
    write(target, "old")
    with pytest.raises(ZeroDivisionError), replacing(target) as path:
        path.write_text(str(1 / len("half" * 0)))
    assert target.read_text() == "old"
    assert list(target.parent.iterdir()) == [target]


def test_the_ending_stays(tmp_path):
    with replacing(tmp_path / "a.png") as path:
        assert path.suffix == ".png"
        assert path.parent == tmp_path


@pytest.mark.parametrize("name", ["ä" * 120 + ".txt", "狐" * 70 + "." + "犬" * 10])
def test_long_names(tmp_path, name):
    write(tmp_path / name, "whole")
    assert (tmp_path / name).read_text() == "whole"


@posix
def test_names_that_are_not_utf_8(tmp_path):
    target = tmp_path / os.fsdecode(b"caf\xe9.txt")
    try:
        write(target, "whole")
    except OSError as error:  # of a file system that takes UTF-8 alone
        pytest.skip(str(error))
    assert target.read_text() == "whole"


@posix
def test_a_link_stays_and_its_file_is_replaced(tmp_path):
    real, link = tmp_path / "real" / "a.txt", tmp_path / "link.txt"
    write(real, "old")
    link.symlink_to(real)
    write(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    dangling = tmp_path / "dangling.txt"
    dangling.symlink_to(tmp_path / "later.txt")
    write(dangling, "new")
    assert dangling.is_symlink()
    assert (tmp_path / "later.txt").read_text() == "new"


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_stays(tmp_path, mode):
    target = tmp_path / "a.txt"
    write(target, "old")
    target.chmod(mode)
    write(target, "new")
    assert stat.S_IMODE(target.stat().st_mode) == mode


@posix
def test_the_owner_stays(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    write(target, "old")
    if os.getuid() == 0:
        os.chown(target, 1234, 1235)
        write(target, "new")
        assert (target.stat().st_uid, target.stat().st_gid) == (1234, 1235)
    else:
        pytest.skip("only root gives files away")


@posix
def test_new_files_have_the_mode_of_new_files_and_the_umask_is_left_alone(tmp_path, monkeypatch):
    def umask(mask):
        raise AssertionError("the umask belongs to all threads")

    plain = tmp_path / "plain.txt"
    plain.touch()
    monkeypatch.setattr(os, "umask", umask)
    write(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").stat().st_mode == plain.stat().st_mode


@posix
def test_a_pipe_gets_the_content_and_stays(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write(pipe, "through")
    reader.join()
    assert got == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write("/dev/null", "nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        write(tmp_path, "new")


class Disk:
    """A layer between the code and the disk that notes operations, and fails at one of them.

    It also knows what a power cut could leave: content is certain once it was synced, a name once
    its folder was.
    """

    CALLS = ("open", "fsync", "replace", "chmod", "close")

    def __init__(self, monkeypatch, fail_at=None, more=()):
        self.n_calls, self.fail_at, self.log = 0, fail_at, []
        for name in (*self.CALLS, *more):
            monkeypatch.setattr(os, name, self.watched(name, getattr(os, name)))
        monkeypatch.setattr(builtins, "open", self.watched("write", open))

    def watched(self, name, function):
        def call(*args, **kwargs):
            self.n_calls += 1
            if self.n_calls - 1 == self.fail_at:
                if name == "close":  # as the system does: the file is closed, and the error told
                    function(*args, **kwargs)
                raise OSError(28, "No space left on device")
            result = function(*args, **kwargs)
            what = os.readlink(f"/proc/self/fd/{args[0]}") if name == "fsync" else None
            self.log.append((name, what or [os.fspath(a) for a in args if not isinstance(a, int)]))
            return result

        return call


@pytest.mark.parametrize("there", [True, False])
def test_a_failure_at_any_operation_leaves_the_old_file_or_the_new_one(tmp_path, there):
    for fail_at in itertools.count():
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        target = folder / "a.txt"
        if there:
            target.write_text("old")
        with pytest.MonkeyPatch.context() as patch:
            disk, failed = Disk(patch, fail_at), False
            try:
                with replacing(target) as path, builtins.open(path, "w") as file:
                    file.write("new")
            except OSError:
                failed = True
        left = target.read_text() if target.exists() else None
        assert left in (("old", "new") if there else (None, "new"))
        assert [one.name for one in folder.iterdir()] == ["a.txt"][: left is not None]
        if disk.n_calls <= fail_at:
            assert left == "new"
            break
        # An error is told, except that of closing a descriptor after everything was done.
        assert failed
    assert fail_at > 6


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="names of descriptors need /proc")
def test_a_power_cut_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(patch)
        with replacing(target) as path, builtins.open(path, "w") as file:
            file.write("new")
        draft = str(path)
    for moment in range(len(disk.log) + 1):
        done = disk.log[:moment]
        content_is_safe = ("fsync", draft) in done
        renames = [k for k, (name, _) in enumerate(done) if name == "replace"]
        # Before the folder is synced a rename may be on the disk or not.
        may_be_renamed = bool(renames)
        must_be_renamed = bool(renames) and ("fsync", str(tmp_path)) in done[renames[0] :]
        assert content_is_safe or not may_be_renamed  # else: the new name, and no content
        if moment == len(disk.log):
            assert must_be_renamed  # what was reported as written stays written
    synced = disk.log.index(("fsync", draft))
    assert all(name != "write" for name, _ in disk.log[synced:])  # nothing is added after the sync


NAMES = ["a.txt", "b.txt", "c.txt"]


def write_set(folder, text):
    with replacing_files(folder) as drafts:
        for name in NAMES:
            with builtins.open(drafts / name, "w") as file:
                file.write(text)


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("there", [[], ["b.txt"], NAMES])
def test_a_failure_at_any_operation_leaves_the_old_set_or_the_new_one(tmp_path, there):
    new = dict.fromkeys(NAMES, "new")
    for fail_at in itertools.count():
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        for name in [*there, "other.txt"]:
            (folder / name).write_text("old")
        old, failed = content(folder), False
        with pytest.MonkeyPatch.context() as patch:
            disk = Disk(patch, fail_at, more=["mkdir"])
            try:
                write_set(folder, "new")
            except OSError:
                failed = True
        assert content(folder) == (old if failed else old | new)
        if disk.n_calls <= fail_at:
            assert not failed
            break
    assert fail_at > 12


def test_an_interrupt_after_any_rename_leaves_the_old_set(tmp_path):
    real = os.replace
    for n_done in range(1, 2 * len(NAMES) + 1):
        write_set(tmp_path, "old")
        calls = itertools.count(1)

        def interrupted(*paths, calls=calls, n_done=n_done):
            real(*paths)
            if next(calls) == n_done:
                raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", interrupted)
            with pytest.raises(KeyboardInterrupt):
                write_set(tmp_path, "new")
        assert content(tmp_path) == dict.fromkeys(NAMES, "old")


def killed_after(n_renames, folder):
    """Write a set in a process that ends without any cleaning up after so many renames."""
    real, calls = os.replace, itertools.count(1)

    def replace(*paths):
        if next(calls) > n_renames:
            os._exit(9)
        real(*paths)

    number = os.fork()
    if not number:
        os.replace = replace
        write_set(folder, "new")
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


@posix
@pytest.mark.parametrize("there", [[], ["b.txt"], NAMES])
def test_a_set_of_a_killed_process_is_finished_at_the_next_look(tmp_path, there):
    n_renames = len(there) + len(NAMES)
    for n_done in range(n_renames):
        folder = tmp_path / str(n_done)
        folder.mkdir()
        for name in [*there, "other.txt"]:
            (folder / name).write_text("old")
        assert killed_after(n_done, folder) == 9
        finish_replacing(folder)
        assert content(folder) == {**dict.fromkeys(NAMES, "new"), "other.txt": "old"}
    assert killed_after(99, tmp_path / "0") == 0


@posix
def test_a_set_that_is_being_written_is_left_alone(tmp_path):
    with replacing_files(tmp_path) as drafts:
        (drafts / "a.txt").write_text("new")
        olds = drafts.with_name(drafts.name.replace(".new-", ".old-"))
        olds.mkdir()
        finish_replacing(tmp_path)
        assert os.listdir(drafts) == ["a.txt"]
        olds.rmdir()
    assert content(tmp_path) == {"a.txt": "new"}


@posix
def test_old_files_that_could_not_be_put_back_stay(tmp_path):
    (tmp_path / ".old-0123").mkdir()
    (tmp_path / ".old-0123" / "a.txt").write_text("old")
    finish_replacing(tmp_path)
    write_set(tmp_path, "new")
    assert (tmp_path / ".old-0123" / "a.txt").read_text() == "old"


def test_a_folder_in_the_place_of_a_file_stays(tmp_path):
    (tmp_path / "b.txt").mkdir()
    (tmp_path / "b.txt" / "mine").touch()
    with pytest.raises(IsADirectoryError, match="where a file belongs"):
        write_set(tmp_path, "new")
    assert [path.name for path in tmp_path.rglob("*")] == ["b.txt", "mine"]


@posix
def test_a_descriptor_that_leads_to_a_file_is_added_to(tmp_path):
    with (tmp_path / "log.txt").open("w") as file:
        file.write("before ")
        file.flush()
        write(f"/dev/fd/{file.fileno()}", "after")
    assert content(tmp_path) == {"log.txt": "before after"}
