"""What the actions need: random rows and models, processes to kill, and a disk that is full."""

import errno
import multiprocessing
import os
import resource
import signal
import subprocess
import time
import traceback
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone

from given_classifiers import CLASSIFIERS
from given_parts import overlapping

FORK = multiprocessing.get_context("fork")
DISK_BYTES = 24 * 2**20
GRACE = 10.0
"""Seconds that the helpers of a process may take to see that it has ended."""

KINDS = "dense", "sparse", "missing", "float32"
SETTINGS = {
    "prototypes_per_class": [1, 2, 3],
    "solver": ["auto", "lbfgs", "sgd", "adam", "momentum"],
    "init": ["kmeans", "means", "kmeans++", "random"],
    "early_stopping": [False, True],
    "max_iter": [1, 5, 40],
    "loss": ["identity", "sigmoid", "logistic", "hinge"],
    "margin": ["difference", "relative", "hypothesis", "log_odds"],
    "distance": ["sqeuclidean", "relevance", "matrix", "local_matrix"],
    "C": [0.1, 10.0],
}
"""Values of parameters, for the classes that have them."""


def check(holds, message):
    """Raise if an invariant does not hold."""
    if not holds:
        raise AssertionError(message)


def pick(rng, choices):
    """Return one of several things, as it is."""
    return choices[rng.randint(len(choices))]


def draw_rows(rng, kinds=KINDS):
    """Return a few rows of one of several kinds, and their labels."""
    labels = ("ash", "birch", "cedar")[: rng.randint(2, 4)]
    X, y = overlapping(rng.randint(40, 121), rng.randint(2, 7), rng.randint(2**31), labels)
    kind = pick(rng, kinds)
    if kind == "sparse":
        return sparse.csr_array(np.where(rng.rand(*X.shape) < 0.5, 0.0, X)), y
    if kind == "missing":
        X[:, 1:][rng.rand(len(X), X.shape[1] - 1) < 0.1] = np.nan
    return X.astype(np.float32 if kind == "float32" else np.float64), y


def draw_model(rng, models=CLASSIFIERS):
    """Return a classifier, some of its parameters set at random."""
    model = clone(pick(rng, models))
    names = [name for name in SETTINGS if name in model.get_params() and rng.rand() < 0.5]
    return model.set_params(**{name: pick(rng, SETTINGS[name]) for name in names})


def state_of(thing):
    """Return what is in a result, without times, as something that == compares bit by bit."""
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return str(thing.dtype), thing.shape, thing.tobytes()
    if isinstance(thing, dict):
        kept = [name for name in thing if "time" not in str(name) and name != "stopped_"]
        return {str(name): state_of(thing[name]) for name in kept}
    if isinstance(thing, (list, tuple, np.ndarray)):
        return [state_of(part) for part in thing]
    if hasattr(thing, "get_params"):  # what was learned, not where the checkpoint is
        return state_of({k: v for k, v in vars(thing).items() if k.endswith("_") or k == "steps"})
    if hasattr(thing, "__dict__") and not callable(thing):
        return state_of(vars(thing))
    return getattr(thing, "__qualname__", repr(thing))


def answers_of(model, X):
    """Return everything that a model says about rows."""
    names = [n for n in ("predict", "decision_function", "predict_proba") if hasattr(model, n)]
    return {name: state_of(getattr(model, name)(X)) for name in names}


def run_alone(work, is_time=lambda: False):
    """Return the result of work in a process of its own, or None if it is killed when it is time.

    The process is forked and has a session of its own, so that what it leaves behind is seen.
    """
    reader, writer = FORK.Pipe(duplex=False)
    process, found = FORK.Process(target=_send_result, args=(work, writer)), None
    process.start()
    session = process.pid
    writer.close()
    try:
        reader.recv()  # it has its session
        while not (is_time() or reader.poll(0.0005)):
            pass
        found = reader.recv() if reader.poll() else None
    finally:
        if found is None:
            process.kill()
        process.join()
        process.close()
        reader.close()
        left = _end_session(session)
    check(not left, f"processes were left behind: {left}")
    succeeded, result = found or (True, None)
    check(succeeded, f"a process failed:\n{result}")
    return result


def _send_result(work, writer):
    os.setsid()
    writer.send(None)
    try:
        result = True, work()
    except BaseException:
        result = False, traceback.format_exc()
    writer.send(result)


def _end_session(number):
    """Wait for the other processes of a session; kill and return those that do not end."""
    end, left = time.monotonic() + GRACE, [number]
    while left and time.monotonic() < end:
        left.clear()
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has just ended
                if path.read_text().rpartition(")")[2].split()[3] == str(number):
                    left.append(int(path.parent.name))
        time.sleep(0.05 if left else 0.0)
    for one in left:
        with suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    return left


@contextmanager
def small_disk(folder):
    """Mount a small disk for the block, if this user may; the context is whether it is there."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    mounts = os.geteuid() == 0 and not subprocess.run(command, capture_output=True).returncode
    try:
        yield mounts
    finally:
        if mounts:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)  # files may be open


@contextmanager
def full_disk(folder, room):
    """Leave so many bytes on the small disk; where there is none, no file may become longer."""
    before, filler = resource.getrlimit(resource.RLIMIT_FSIZE), folder.parent / "filler"
    if os.path.ismount(folder.parent):
        disk = os.statvfs(folder)
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - room)
    else:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        filler.unlink(missing_ok=True)


def error_without_room(work):
    """Return the error of work that lacks room, None if there is none; others are failures."""
    try:
        work()
    except Exception as error:
        cause = error
        while cause is not None and getattr(cause, "errno", 0) not in (errno.ENOSPC, errno.EFBIG):
            cause = cause.__cause__ or cause.__context__
        check(cause is not None, f"a full disk was reported as {error!r}")
        return error
    return None
