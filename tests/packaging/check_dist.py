"""Try the wheels and the sdists of a folder: what is inside, and whether they work when installed.

Run by ``make dist``; needs nothing but the standard library.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

NEEDED_IN_SDIST = {
    ".ci/run",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "docs/conf.py",
    "docs/index.md",
    "docs/images/iris.png",
    "papers/pyproject.toml",
    "pyproject.toml",
    "src/protolearn/__init__.py",
    "src/protolearn/py.typed",
    "tests/conftest.py",
    "tests/oldest.txt",
    "tests/reference.py",
}
NEEDED_IN_SDIST_OF_PAPERS = {
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "pyproject.toml",
    "src/protolearn_papers/__init__.py",
    "src/protolearn_papers/py.typed",
}
LEFTOVERS = (
    "__pycache__",
    ".nbi",
    ".nbc",
    ".pyc",
    ".venv",
    ".hypothesis",
    "_build/",
    "docs/generated",
)
TRIAL = """
import pathlib, sys
import protolearn
assert pathlib.Path(protolearn.__file__).is_relative_to(sys.prefix), protolearn.__file__
X, y = protolearn.datasets.load("iris")
assert protolearn.GLVQ(random_state=0).fit(X, y).score(X, y) > 0.9
"""


def wheel_faults(path):
    """Tell what a wheel has that it should not have, or lacks."""
    package = path.name.partition("-")[0]
    needed = {f"{package}/__init__.py", f"{package}/py.typed"}
    names = set(zipfile.ZipFile(path).namelist())
    inside = {name.partition("/")[0] for name in names}
    meta = f"{path.name.rsplit('-py3-', 1)[0]}.dist-info"
    yield from sorted(f"lacks {name}" for name in needed - names)
    yield from sorted(f"has {name}" for name in inside - {package, meta})
    yield from (f"has {name}" for name in sorted(names) if any(part in name for part in LEFTOVERS))
    if f"{meta}/licenses/LICENSE" not in names:
        yield "lacks the license"
    if any("test" in Path(name).name for name in names if name.endswith(".py")):
        yield "has tests"


def sdist_faults(path, needed):
    """Tell what an sdist has that it should not have, or lacks."""
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    yield from sorted(f"lacks {name}" for name in needed - names)
    yield from (f"has {name}" for name in sorted(names) if any(part in name for part in LEFTOVERS))


def run(*command, cwd):
    """Run a command away from the source tree, and give what it printed."""
    aside = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    env = {name: value for name, value in os.environ.items() if name not in aside}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def try_installed(path, papers):
    """Install two files into a clean environment and use them; give the version of the first.

    The second, with the published experiments, comes after the library was tried without it.
    """
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "venv", with_pip=True)
        programs = Path(folder) / "venv" / "bin"
        pip = programs / "python", "-m", "pip", "--disable-pip-version-check"
        run(*pip, "install", "--quiet", path.resolve(), cwd=folder)
        run(*pip, "check", cwd=folder)
        run(programs / "python", "-c", TRIAL, cwd=folder)
        run(*pip, "install", "--quiet", papers.resolve(), cwd=folder)
        run(*pip, "check", cwd=folder)
        if "jin-table1" not in run(programs / "protolearn", "reproduce", "--list", cwd=folder):
            sys.exit(f"{papers.name} is installed, but protolearn reproduce does not find it.")
        return run(programs / "protolearn", "--version", cwd=folder).split()[-1]


def main(folder):
    """Check a wheel and an sdist of each distribution, all of the same version."""
    (wheel,), (sdist,) = folder.glob("protolearn-*.whl"), folder.glob("protolearn-*.tar.gz")
    (papers_wheel,) = folder.glob("protolearn_papers-*.whl")
    (papers_sdist,) = folder.glob("protolearn_papers-*.tar.gz")
    faults = [
        *wheel_faults(wheel),
        *sdist_faults(sdist, NEEDED_IN_SDIST),
        *wheel_faults(papers_wheel),
        *sdist_faults(papers_sdist, NEEDED_IN_SDIST_OF_PAPERS),
    ]
    if faults:
        sys.exit("\n".join(faults))
    for path, papers in ((wheel, papers_wheel), (sdist, papers_sdist)):
        version = try_installed(path, papers)
        for file in (path, papers):
            if f"-{version}" not in file.name:
                sys.exit(f"{path.name} tells its version as {version}, unlike {file.name}.")
            print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB, installs and works.")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)} failed:\n{error.stdout}{error.stderr}")
