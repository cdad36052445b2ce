"""Save a model to a file, load it again, and read what a file says about its model."""

from __future__ import annotations

import json
import os
import platform
import re
import warnings
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .._files import replacing
from .file import ModelFile, ModelFileError, checksum, pack, unpack
from .fitted_state import find_damage
from .skops_payload import build, dump, fingerprint, localize, unknown_types, unwritable_part
from .trust import SKLEARN_COMPILED, type_names

LIBRARIES = "scikit-learn", "numpy", "scipy", "skops"
LONGEST = 400  # characters of the line about the model
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # of an object, which is elsewhere the next time


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    notes: Mapping[str, Any] | None = None,
    trusted: Iterable[str | type] = (),
) -> None:
    """Save a model to a file that can be loaded without running code of the file.

    Parameters
    ----------
    model : estimator
        Any estimator of this library, fitted or not, or one of scikit-learn around it, such as a
        ``Pipeline`` or a ``GridSearchCV``.
    path : str or path
        The file. It is written beside and then renamed, so that there is never half a file.
    notes : dict, default=None
        What else to keep, such as where the data came from: texts, numbers, truth values, None,
        and lists and dicts of these. ``describe`` gives it back.
    trusted : list of str or types, default=()
        Types of your own that the model holds, such as ``["mymodule.Ramp"]``; ``load`` needs the
        same.

    Raises
    ------
    ModelFileError
        If the model holds something that ``load`` would refuse, such as a function of yours, or
        that would not come back as it is.

    See Also
    --------
    load : Load the model.
    describe : Read the notes and versions alone.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import protolearn
    >>> from protolearn import GLVQ
    >>> X, y = protolearn.datasets.load("iris")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.protolearn"
    >>> protolearn.io.save(GLVQ(random_state=0).fit(X, y), path, notes={"target": "species"})
    >>> protolearn.io.load(path).predict(X[:1]).tolist()
    ['setosa']
    """
    if not _is_model(model):
        raise TypeError(
            f"save takes a model and then a path; {_short(repr(model))} is not a model (an object "
            "with get_params)."
        )
    target, names = Path(path), type_names(trusted)
    if target.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; give the name of a file.")
    kept = _check_notes(notes)
    payload = _write_payload(model, names)
    line = _short(ADDRESS.sub("", repr(model)))
    about = ModelFile(line, _versions(), checksum(payload), kept)
    with replacing(target) as beside:
        beside.write_bytes(pack(about, payload))


def load(path: str | os.PathLike[str], *, trusted: Iterable[str | type] = ()) -> Any:
    """Load a model that ``save`` has written.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : list of str or types, default=()
        Types that are not known but may be loaded, such as ``["mymodule.Ramp"]``. Their modules
        are imported and their code is run: name only what you know.

    Returns
    -------
    model : estimator
        As it was, its answers the same to the last bit.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, comes from a newer format, or holds types that are
        not known.

    Warns
    -----
    UserWarning
        If it was saved with another version of protolearn or scikit-learn, up to the second
        number.

    See Also
    --------
    save : Write the file.
    describe : Look at the file before.

    Notes
    -----
    Nothing of the file is run, and a type is imported only if it is on a list that does not depend
    on the file: estimators of protolearn, those of scikit-learn that compute with NumPy alone,
    arrays, and the few types that these hold. All types are looked at before anything is built.

    The checksum finds accidents. It is no signature: whoever changes a file on purpose can also
    write the checksum anew. A model made by someone malicious cannot run code when it is loaded,
    and arrays that do not fit each other are refused, but its answers can be anything.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import protolearn
    >>> from protolearn import GLVQ
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.protolearn"
    >>> protolearn.io.save(GLVQ(beta=3.0), path)
    >>> protolearn.io.load(path)
    GLVQ(beta=3.0)
    """
    names = type_names(trusted)
    about, payload = unpack(path)
    try:
        local = localize(payload)
        del payload  # as large as the model
        unknown = unknown_types(local, names)
        model = None if unknown else build(local, names)
        del local
    except Exception as error:
        raise ModelFileError(
            f"The model in {str(path)!r} cannot be built: {_reason(error)}. It was saved with "
            f"{_version_list(about.versions)}; here is {_version_list(_versions())}. Load it "
            "there, or save it again."
        ) from error
    if unknown:
        listed = _short(repr(list(unknown)), 5 * LONGEST)
        raise ModelFileError(
            f"{str(path)!r} holds types that are not known, the first at "
            f"{_short(next(iter(unknown.values())))}: {_short(', '.join(unknown))}. Nothing of it "
            f"was loaded. If you know what {'it is' if len(unknown) == 1 else 'they are'} and "
            f"trust where the file comes from, give load trusted={listed}.{_why(unknown)}"
        )
    if not _is_model(model):
        raise ModelFileError(
            f"{str(path)!r} holds no model, but {type(model).__name__}. Give a file that "
            "protolearn.save has written."
        )
    damage = _damage(model)
    if damage:
        raise ModelFileError(
            f"{str(path)!r} holds a model that cannot be used: {damage}. The file is damaged, or "
            "was changed after it was saved; copy it again, or save the model again."
        )
    _tell_versions(path, about.versions)
    return model


def describe(path: str | os.PathLike[str]) -> ModelFile:
    """Read what a file says about its model, without building it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    about : ModelFile
        The model in one line, versions, checksum and notes.

    See Also
    --------
    load : Load the model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import protolearn
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.protolearn"
    >>> protolearn.io.save(protolearn.GLVQ(), path, notes={"target": "species"})
    >>> about = protolearn.io.describe(path)
    >>> about.model, about.notes
    ('GLVQ()', {'target': 'species'})
    """
    return unpack(path)[0]


def _write_payload(model: Any, trusted: frozenset[str]) -> bytes:
    """Write a model, and read it again to see that it comes back."""
    try:
        payload = dump(model)
        local = localize(payload)
        unknown = unknown_types(local, trusted)
        model_again = None if unknown else build(local, trusted)
        again = None if unknown else dump(model_again)
    except Exception as error:
        raise ModelFileError(
            f"{type(model).__name__} holds something that save cannot write, "
            f"{_short(unwritable_part(model, type(model).__name__))}: {_reason(error)}. Take it "
            "out, or use pickle."
        ) from error
    if unknown:
        kind, place = next(iter(unknown.items()))
        raise ModelFileError(
            f"{place.replace('model', type(model).__name__, 1)} is {kind}, which load would "
            f"refuse. Set it to something else (a callback to None), or name it to save and load "
            f"as trusted={list(unknown)!r}, or use pickle.{_why(unknown)}"
        )
    if again is None or fingerprint(again) != fingerprint(payload):
        raise ModelFileError(
            f"{type(model).__name__} holds something that would not come back as it is, such as a "
            "dict with keys that are neither texts nor numbers. Take it out, or use pickle."
        )
    damage = _damage(model_again)
    if damage:
        raise ModelFileError(f"{damage}, so load would refuse it. Fit the model again.")
    return payload


def _damage(model: Any) -> str:
    """Return what is wrong with the arrays of a model; "" if nothing is."""
    try:
        return _short(find_damage(model))
    except Exception as error:  # attributes of a file can be anything
        return _reason(error)


def _check_notes(notes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return notes as JSON gives them back."""
    try:
        wanted = dict(notes or {})
        kept: dict[str, Any] = json.loads(json.dumps(wanted, allow_nan=False))
        same = kept == wanted
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise ValueError(
            f"notes={_short(repr(notes))} must be a dict of texts, finite numbers, truth values, "
            "None, and lists and dicts (with texts as keys) of these."
        )
    return kept


def _is_model(thing: Any) -> bool:
    """Whether something is an estimator."""
    return hasattr(thing, "get_params") and not isinstance(thing, type)


def _versions() -> dict[str, str]:
    """Return the versions that matter for loading."""
    from protolearn import __version__

    return {"protolearn": __version__, **_library_versions(), "python": platform.python_version()}


@cache
def _library_versions() -> dict[str, str]:
    """Return the versions of the libraries, which takes a while to find out."""
    return {name: version(name) for name in LIBRARIES}


def _tell_versions(path: Any, saved: dict[str, str]) -> None:
    """Warn if the model comes from another version of protolearn or scikit-learn."""
    here = _versions()
    other = [
        f"{name} {_short(str(saved.get(name)))} (here {here[name]})"
        for name in ("protolearn", "scikit-learn")
        if str(saved.get(name)).split(".")[:2] != here[name].split(".")[:2]
    ]
    if other:
        warnings.warn(
            f"{str(path)!r} was saved with {' and '.join(other)}; its answers may differ. Check "
            "them, or fit and save the model again.",
            UserWarning,
            stacklevel=3,
        )


def _why(unknown: Mapping[str, str]) -> str:
    """Return why some types are not on the list."""
    if any(kind.startswith("protolearn.") for kind in unknown):
        return (
            " Names that begin with protolearn are of another version of it: fit and save the "
            "model again with this one."
        )
    if not any(part in kind for kind in unknown for part in SKLEARN_COMPILED):
        return ""
    return (
        " Trees, neighbours and SVMs of scikit-learn are not known by default, since those of a "
        "malicious file can make it read memory that is not theirs."
    )


def _reason(error: Exception) -> str:
    """Return what an error says in one line."""
    return _short(str(error) or type(error).__name__).rstrip(".")


def _version_list(versions: Mapping[str, str]) -> str:
    """Return versions in one line."""
    return _short(", ".join(f"{name} {text}" for name, text in versions.items()))


def _short(text: str, longest: int = LONGEST) -> str:
    """Return a text in one line that is not too long, without signs that control a terminal."""
    line = " ".join(text.split())
    line = "".join(sign if sign.isprintable() else "?" for sign in line[: longest + 1])
    return line if len(line) <= longest else f"{line[: longest - 3]}..."
