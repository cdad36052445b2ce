"""``make soak``: random actions for some minutes, with invariants that are checked after each.

First each action is done once, then they are drawn at random until the time is over. A failure is
printed with the seed and the action that repeat it.
"""

import argparse
import gc
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from unittest import SkipTest

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported: a process with threads cannot be forked
os.environ["MPLBACKEND"] = "Agg"

from soak.actions import ACTIONS, Round  # noqa: E402
from soak.world import check, small_disk  # noqa: E402

PATIENCE = 180
"""Seconds after which a round hangs."""

GROWTH = 48
"""MB by which the second half of the rounds may exceed the first."""

WEIGHTS = {"fit": 8, "save_and_load": 4, "kill_worker": 0.5}
"""How often an action is drawn, as a multiple of the others: quick ones more often."""

ENOUGH = 60
"""Rounds that tell something about memory."""


def main():
    """Run the actions; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m soak", description=__doc__)
    parser.add_argument("--seconds", type=float, help="default: 600, or one round with --only")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--only", choices=ACTIONS, help="the one action to do")
    options = parser.parse_args()
    seconds = options.seconds if options.seconds is not None else 0 if options.only else 600
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleared away
    signal.signal(signal.SIGALRM, hang)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="protolearn-soak-") as base:
        soak = Soak(Path(base), options.seed)
        with small_disk(soak.disk) as is_small:
            how = "a small disk" if is_small else "a limit on the size of files"
            print(f"seed {options.seed}, {seconds:g} seconds; full disks by {how}", flush=True)
            soak.run([options.only] if options.only else list(ACTIONS), seconds)
        os.chdir("/")
    return soak.report()


def hang(*_):
    """Raise for a round that does not end."""
    raise TimeoutError(f"the round did not end within {PATIENCE} seconds")


class Soak:
    """The loop, what it counts and what it watches."""

    def __init__(self, base, seed):
        self.seed, self.base, self.disk = seed, base, base / "disk"
        self.counts, self.failures, self.skipped, self.memory = defaultdict(Counter), [], {}, []
        for name in ("disk", "tmp", "cwd", "round"):
            (base / name).mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(base / "tmp")
        os.chdir(base / "cwd")

    def run(self, names, seconds):
        """Do each action once, then random ones until the time is over."""
        end, number = time.monotonic() + seconds, 0
        while number < len(names) or time.monotonic() < end:
            seed = self.seed + number
            weights = [WEIGHTS.get(name, 1) for name in names]
            (name,) = names[number : number + 1] or random.Random(seed).choices(names, weights)
            if name not in self.skipped:
                self.play(name, seed)
            number += 1

    def play(self, name, seed):
        """Do an action in a folder of its own, and check what it leaves."""
        folders = [self.base / "round" / str(seed), self.disk / str(seed)]
        if not os.path.ismount(self.disk):
            folders = folders[:1]
        for folder in folders:
            folder.mkdir()
        count, start, before = self.counts[name], time.monotonic(), n_descriptors()
        now = Round(seed, folders[0], folders[-1])
        signal.alarm(PATIENCE)
        try:
            ACTIONS[name](now)
            gc.collect()
            self.check_nothing_left(before if count["runs"] else None)
        except SkipTest as reason:
            self.skipped[name] = str(reason)
            del self.counts[name]
        except Exception:
            count["failures"] += 1
            self.failures.append((f"--seed {seed} --only {name}", traceback.format_exc()))
            print(f"\nFAILED {self.failures[-1][0]}\n{self.failures[-1][1]}", flush=True)
        finally:
            signal.alarm(0)
            for folder in folders:
                shutil.rmtree(folder)
        count.update(runs=1, kills=now.n_kills, refused=now.n_refused)
        count["seconds"] += time.monotonic() - start
        self.memory.append(resident_mb())

    def check_nothing_left(self, before):
        """Check files, processes and descriptors; libraries may open some at the first time."""
        for name in ("tmp", "cwd"):
            left = os.listdir(self.base / name)
            for one in left:
                shutil.rmtree(self.base / name / one, ignore_errors=True)
                (self.base / name / one).unlink(missing_ok=True)
            check(not left, f"temporary files were left: {left}")
        with suppress(ChildProcessError):  # there is none
            check(False, f"a process was left: {os.waitpid(-1, os.WNOHANG)}")
        if before is not None:
            check(n_descriptors() <= before, f"{n_descriptors() - before} files were left open")

    def report(self):
        """Print what was done; return the exit code."""
        columns = ("runs", "kills", "refused", "failures", "seconds")
        print(f"{'action':<18}" + "".join(f"{name:>10}" for name in columns))
        total = sum(self.counts.values(), Counter())
        for name, count in [*self.counts.items(), ("all", total)]:
            print(f"{name:<18}" + "".join(f"{count[column]:>10.0f}" for column in columns))
        for name, reason in self.skipped.items():
            print(f"skipped {name}: {reason}")
        half = len(self.memory) // 2
        first, second = max(self.memory[:half], default=0), max(self.memory[half:], default=0)
        print(
            f"resident memory: at most {first:.0f} MB in the first half, {second:.0f} MB after it"
        )
        grows = len(self.memory) >= ENOUGH and second > first + GROWTH
        if grows:
            print(f"FAILED: memory has grown by more than {GROWTH} MB; --seed {self.seed}")
        for how, text in self.failures:
            print(f"FAILED {how}: {text.strip().splitlines()[-1]}")
        return 1 if self.failures or grows else 0


def n_descriptors():
    """Return how many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


def resident_mb():
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


if __name__ == "__main__":
    if not Path("/proc/self/fd").exists():
        sys.exit("The endurance test needs /proc, as Linux has it.")
    sys.exit(main())
