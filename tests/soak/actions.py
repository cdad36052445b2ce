"""The actions of the endurance test: each does one thing with chance in it, and checks the end."""

import io
import json
import os
import signal
import threading
import time
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib.util import find_spec
from unittest import SkipTest

import numpy as np
from sklearn.base import clone

import protolearn.cli.fit_command  # before processes are forked, so that these start at once
import protolearn.report
from given_parts import overlapping
from given_pets import pets, write
from protolearn import GLVQ, GMLVQ, LVQ1, AutoPrototypeClassifier, MeanOfClass, compare, load, save
from soak.world import (
    answers_of,
    check,
    draw_model,
    draw_rows,
    error_without_room,
    full_disk,
    pick,
    run_alone,
    state_of,
)


class Round:
    """What an action is given: chance, a folder, and one on the small disk if there is any."""

    def __init__(self, seed, folder, disk):
        self.rng, self.folder, self.disk = np.random.RandomState(seed), folder, disk
        self.n_kills = self.n_refused = 0

    def kill(self, work, is_time):
        """Kill some work when it is time, unless it is done before."""
        self.n_kills += run_alone(work, is_time) is None

    def moment(self, seconds):
        """Return a function that says whether a random moment within some seconds has come."""
        end = time.monotonic() + self.rng.uniform(0.0, seconds)
        return lambda: time.monotonic() > end


def fit(now):
    """Fit a random model twice: the results are the same, or the same error."""
    model, (X, y) = draw_model(now.rng), draw_rows(now.rng)
    first, second = (fit_or_refuse(clone(model), X, y) for _ in range(2))
    check(first == second, f"two fits of {model} differ")
    now.n_refused += isinstance(first, str)


def save_and_load(now):
    """Save a random model and load it: it says the same about all rows."""
    model, (X, y) = draw_model(now.rng), draw_rows(now.rng)
    if isinstance(fit_or_refuse(model, X, y), str):
        now.n_refused += 1
        return
    save(model, now.folder / "model")
    again = answers_of(load(now.folder / "model"), X)
    check(again == answers_of(model, X), f"{model} was loaded as another")
    check(os.listdir(now.folder) == ["model"], f"files were left: {os.listdir(now.folder)}")


def kill_save(now):
    """Kill a process that saves two models in turn: the file is one of them, whole."""
    path, models = now.folder / "model", two_models(now.rng)
    contents = [saved_bytes(model, path) for model in models]
    for _ in range(5):
        now.kill(lambda: [save(model, path) for model in 200 * models], now.moment(0.1))
        check(path.read_bytes() in contents, "a killed save left neither the old nor the new file")


def kill_and_resume(prepare, now):
    """Kill work with a checkpoint again and again: it goes on to the same result."""
    run, whole, path = prepare(now.rng), now.folder / "whole", now.folder / "killed"
    expected = run(whole)
    for _ in range(now.rng.randint(1, 5)):
        before, size = whole_lines(path), now.rng.randint(whole.stat().st_size)
        now.kill(lambda: run(path), lambda size=size: path.exists() and path.stat().st_size >= size)
        check(whole_lines(path).startswith(before), "a kill has lost finished work")
    check(run(path) == expected, "the resumed work found another result")
    check(sorted(os.listdir(now.folder)) == ["killed", "whole"], "files were left")


def kill_command(now):
    """Kill ``protolearn fit``: the same command goes on to the same files."""
    run, start = partial(fit_command, now, pets(50, now.rng.randint(1000))), time.monotonic()
    check_command(run, now.folder / "whole")
    seconds, out = time.monotonic() - start, now.folder / "killed"
    for _ in range(now.rng.randint(1, 5)):
        now.kill(lambda: run(out), now.moment(seconds))
        if (out / "model.protolearn").exists():
            load(out / "model.protolearn")
    check_command(run, out, now.folder / "whole")
    check(not list(out.glob(".unfinished*")), "the command has not removed its unfinished work")


def full_save(now):
    """Save a model to a full disk: an error, and the old file stays."""
    path, (old, new) = now.disk / "model", two_models(now.rng)
    whole, before = saved_bytes(new, path), saved_bytes(old, path)
    check_full_disk(now, path, before, lambda: save(new, path))
    check(path.read_bytes() == whole, "the file that was saved in the end is not whole")


def full_report(now):
    """Write a report to a full disk: an error, and the old one stays."""
    path, (X, y) = now.disk / "report.html", draw_rows(now.rng, ["dense"])
    model = GLVQ(max_iter=5, random_state=0).fit(X, y)
    write_report = partial(protolearn.report.write, model, X, y, path, cv=None, n_refits=2)
    write_report()
    check_full_disk(now, path, path.read_bytes(), write_report)
    check(path.read_bytes().rstrip().endswith(b"</html>"), "the second report is not whole")


def full_checkpoint(now):
    """Fill the disk during work with a checkpoint: an error, and it goes on later."""
    run = pick(now.rng, [resumable_fit, resumable_search, resumable_comparison])(now.rng)
    expected = run(now.disk / "whole")
    size, path = (now.disk / "whole").stat().st_size, now.disk / "full"
    errors = []
    for _ in range(2):
        before = whole_lines(path)
        bound = now.rng.randint(size) + (len(before) if now.disk == now.folder else 0)
        with full_disk(now.disk, bound):
            errors.append(error_without_room(lambda: run(path)))  # kept, as a notebook keeps them
        check(whole_lines(path).startswith(before), "finished work was lost on a full disk")
    check(run(path) == expected, "the work found another result after the disk was full")


def full_command(now):
    """Fill the disk during ``protolearn fit``: one sentence, exit code 1, and it goes on later."""
    run, out = partial(fit_command, now, pets(50, now.rng.randint(1000))), now.disk / "out"
    check_command(run, now.folder / "whole")
    with full_disk(now.disk, int(10 ** now.rng.uniform(3.7, 6.8))):
        code, error = run_alone(lambda: run(out))
    reason = any(text in error for text in ("No space left", "File too large", "disk is full"))
    check(code in (0, 1) and reason >= code, f"a full disk: exit code {code}, {error}")
    check("Traceback" not in error, f"a full disk was reported by a traceback: {error}")
    check_command(run, out, now.folder / "whole")
    check(not list(out.glob(".*")), f"files were left: {os.listdir(out)}")


def damage_checkpoint(now):
    """Damage a checkpoint: it is refused and left alone, or leads to the same result."""
    run = pick(now.rng, [resumable_fit, resumable_search, resumable_comparison])(now.rng)
    path = now.folder / "damaged"
    expected, content = run(path), path.read_bytes()
    place, bit = now.rng.randint(len(content)), 1 << now.rng.randint(8)
    before, byte, after = content[:place], content[place], content[place + 1 :]
    damages = {
        "cut": before,
        "flip": before + bytes([byte ^ bit]) + after,
        "zeros": before + bytes(1 + len(after[:50])) + after[50:],
        "more": content + now.rng.bytes(40),
    }
    kind = pick(now.rng, list(damages))
    path.write_bytes(damages[kind])
    try:
        check(run(path) == expected, f"damage ({kind} at {place}) has changed the result")
    except ValueError as error:
        now.n_refused += 1
        check("damaged" in str(error), f"damage ({kind} at {place}) was reported as: {error}")
        check(path.read_bytes() == damages[kind], "a damaged file was changed")


def kill_worker(now):
    """Kill a Dask worker at a random moment of a fit: the result is the same."""
    if find_spec("distributed") is None:
        raise SkipTest("distributed is not installed")
    data, moment = overlapping(1500, seed=now.rng.randint(1000)), now.rng.uniform()
    now.n_kills += run_alone(lambda: fit_on_cluster(*data, moment, now.folder))


def resumable_fit(rng):
    """Return a function that fits with a checkpoint and returns the result."""
    (X, y), models = draw_rows(rng), (GLVQ(), GMLVQ(), LVQ1())
    model = draw_model(rng, models).set_params(random_state=rng.randint(1000), max_iter=40)
    return lambda path: fit_or_refuse(clone(model).set_params(checkpoint=path), X, y)


def resumable_search(rng):
    """Return a function that searches with a checkpoint and returns the result."""
    X, y = draw_rows(rng, ["dense", "float32"])
    settings = {"families": ["fixed", "linear"], "max_fits": 12, "random_state": rng.randint(1000)}
    return lambda path: state_of(AutoPrototypeClassifier(**settings, checkpoint=path).fit(X, y))


def resumable_comparison(rng):
    """Return a function that compares with a checkpoint and returns the scores."""
    data, settings = draw_rows(rng, ["dense"]), {"cv": 4, "random_state": rng.randint(1000)}
    models = {"means": MeanOfClass(), "glvq": GLVQ(max_iter=5), "gmlvq": GMLVQ(max_iter=5)}
    return lambda path: state_of(compare(models, data, checkpoint=path, **settings).scores)


ACTIONS = {
    "fit": fit,
    "save_and_load": save_and_load,
    "kill_save": kill_save,
    "kill_fit": partial(kill_and_resume, resumable_fit),
    "kill_search": partial(kill_and_resume, resumable_search),
    "kill_compare": partial(kill_and_resume, resumable_comparison),
    "kill_command": kill_command,
    "full_save": full_save,
    "full_report": full_report,
    "full_checkpoint": full_checkpoint,
    "full_command": full_command,
    "damage_checkpoint": damage_checkpoint,
    "kill_worker": kill_worker,
}


def fit_or_refuse(model, X, y):
    """Return what a model has learned and says, or why it does not take such rows."""
    try:
        model.fit(X, y)
    except (ValueError, TypeError) as error:
        if "checkpoint=" in str(error):
            raise
        return str(error)
    return state_of(model), answers_of(model, X)


def two_models(rng):
    """Return two fitted models whose files differ."""
    X, y = draw_rows(rng)
    return [GLVQ(max_iter=k, random_state=0, solver="adam").fit(X, y) for k in (2, 5)]


def saved_bytes(model, path):
    """Save a model, and return the content of the file."""
    save(model, path)
    return path.read_bytes()


def check_full_disk(now, path, old, work):
    """Check that work without room fails and leaves the old file, and succeeds with room."""
    with full_disk(now.disk, now.rng.randint(int(1.2 * len(old)))):
        error = error_without_room(work)
    if error is not None:
        check(path.read_bytes() == old, "an error on a full disk has changed the old file")
        work()
    check(os.listdir(path.parent) == [path.name], f"files were left: {os.listdir(path.parent)}")


def whole_lines(path):
    """Return the part of a checkpoint that is written to the end."""
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def fit_command(now, rows, out):
    """Run the command in this process; return its exit code and what it says."""
    table, error = now.folder / "pets.csv", io.StringIO()
    if not table.exists():
        write(table, rows)
    sizes = ("--model", "fixed,linear", "--fits", "6", "--folds", "2")
    with redirect_stdout(io.StringIO()), redirect_stderr(error):
        try:
            protolearn.cli.app(["fit", str(table), "--target", "state", *sizes, "--out", str(out)])
        except SystemExit as end:
            return end.code or 0, error.getvalue()


def check_command(run, out, whole=None):
    """Run a command to its end, and check that it finds what an undisturbed one has found."""
    code, error = run_alone(lambda: run(out))
    check(code == 0, f"the command failed: {error}")
    check(whole is None or results_of(out) == results_of(whole), "the command found another result")


def results_of(out):
    """Return what a command has found, without times and dates."""
    found = json.loads((out / "metrics.json").read_text("utf-8"))
    check((out / "report.html").read_bytes().rstrip().endswith(b"</html>"), "half a report")
    measures = [found[name] for name in ("model", "measures", "confusion", "reject")]
    predictions = (out / "predictions.csv").read_bytes()
    return measures, predictions, state_of(load(out / "model.protolearn"))


def fit_on_cluster(X, y, moment, folder):
    """Fit on a cluster, and again while a worker is killed; return the number of kills."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    dask.config.set({"temporary-directory": str(folder)})
    settings = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "silence_logs": 50}
    with (
        LocalCluster(**settings, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        rows = da.from_array(X, chunks=(300, -1)), da.from_array(y, chunks=300)
        model = GLVQ(solver="lbfgs", tol=1e-12, max_iter=15, random_state=0)
        expected, start = state_of(model.fit(*rows)), time.monotonic()
        check(state_of(model.fit(*rows)) == expected, "two fits on a cluster differ")
        seconds, victim = time.monotonic() - start, min(client.run(os.getpid).values())
        timer = threading.Timer(moment * seconds, os.kill, (victim, signal.SIGKILL))
        timer.start()
        check(state_of(model.fit(*rows)) == expected, "a killed worker has changed the result")
        was_during = not timer.is_alive()
        timer.cancel()
    return was_during
