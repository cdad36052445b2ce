"""Parts of numba that are not public, each behind a function that does without it.

What is slower without them is the first fit of a process. Nothing else changes, but where numba
stores a function pointer in another way: then native functions run as plain Python.

The environment variable ``PROTOLEARN_WITHOUT`` names the parts to leave alone, as if numba did not
have them: ``memory``, ``cache``, ``address``, ``pointer``, ``timer``, separated by commas.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from glob import escape, glob
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import types
from numba.extending import intrinsic


def _is_left_alone(part: str) -> bool:
    return part in os.environ.get("PROTOLEARN_WITHOUT", "").split(",")


def memory_options(makes_arrays: bool) -> dict[str, bool]:
    """Return the options for a function that makes no arrays: it need not count who uses them."""
    try:
        from numba.core.options import DefaultOptions
    except ImportError:
        return {}
    known = hasattr(DefaultOptions, "_nrt") and not _is_left_alone("memory")
    return {"_nrt": makes_arrays} if known else {}


def skip_the_compiler(dispatcher: Any) -> None:
    """Let a function that is found on disk be loaded without setting up numba's compiler.

    Numba does that first, and it is the larger part of the first fit of a process. Our functions
    need no more than numba's memory management, if at all; those of users take the ordinary way. A
    function that is not found sets the compiler up itself.
    """
    kept: Any = getattr(dispatcher, "_cache", None)
    if not hasattr(kept, "_load_overload") or _is_left_alone("cache"):
        return
    try:
        from numba.core.runtime import rtsys

        rebuild = kept._impl.rebuild
    except (ImportError, AttributeError):
        return

    def rebuild_with_memory(context: Any, payload: Any) -> Any:
        if manages_memory(payload):
            rtsys.initialize(context)
        return rebuild(context, payload)

    kept._impl.rebuild, kept.load_overload = rebuild_with_memory, kept._load_overload


def seal_the_cache(dispatcher: Any, tell: Callable[[str], None]) -> None:
    """Let damaged files of the disk cache be discarded, and the function be compiled again.

    Numba runs whatever machine code it reads. Here every file ends with a digest of the rest, which
    numba passes over. ``tell`` receives the folder of a damaged file.
    """
    try:
        kept: Any = None if _is_left_alone("cache") else dispatcher._cache
        files = kept._cache_file
        dump, load_data, load_index = files._dump, files._load_data, files._load_index
        load, version = kept.load_overload, pickle.dumps(files._version, protocol=-1)
        index, data_path = files._index_path, files._data_path
    except AttributeError:
        return

    def read_index() -> Any:
        return load_index() if is_sealed(index, version) else {}

    def read_data(name: str) -> Any:
        return load_data(name) if is_sealed(data_path(name)) else None

    def load_or_discard(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except Exception:  # damaged files raise errors of any type
            tell(str(kept.cache_path))
            base = escape(index.removesuffix(".nbi"))
            try:
                for path in glob(f"{base}.nbi") + glob(f"{base}.*.nbc"):
                    os.unlink(path)
            except OSError:
                kept.disable()
            return None

    files._dump = lambda content: seal(dump(content))
    files._load_data, files._load_index, kept.load_overload = read_data, read_index, load_or_discard


def seal(content: bytes) -> bytes:
    """Return bytes with their digest at the end."""
    return content + sha256(content).hexdigest().encode()


def is_sealed(path: str, version: bytes = b"") -> bool:
    """Whether a file has a digest, if it is not numba's business; raise if it is damaged."""
    content = Path(path).read_bytes() if os.path.exists(path) else b""
    if not content or not content.startswith(version):
        return True  # numba knows what to do about a file that is missing or of another version
    known = seal(content[len(version) : -64]) == content[len(version) :]
    if not known and not content.endswith(pickle.STOP):  # of plain numba the last byte is this
        raise ValueError
    return known


def manages_memory(payload: Any) -> bool:
    """Whether a function that was found on disk needs numba's memory management."""
    try:
        _, _, (code, _) = payload[0]
        return b"NRT_" in code
    except (TypeError, ValueError, IndexError):  # another version of numba
        return True


def c_address(dispatcher: Any, signature: Any, make: Callable[[], Any]) -> int:
    """Return the address of the C form of a compiled function.

    ``make`` returns a ``numba.cfunc`` of the function, which is compiled once more.
    """
    if not _is_left_alone("address"):
        try:
            result = dispatcher.get_compile_result(signature)
            name = result.fndesc.llvm_cfunc_wrapper_name
            return int(result.library.get_pointer_to_function(name))
        except AttributeError:
            pass
    return int(make().address)


@cache
def has_function_pointers() -> bool:
    """Whether a number can become a function inside of native code."""
    if _is_left_alone("pointer"):
        return False
    try:
        from numba.core.datamodel import default_manager
        from numba.experimental import function_type  # noqa: F401  (what it looks up)

        fields = default_manager.lookup(types.FunctionType(types.float64()))._fields
    except (ImportError, AttributeError, KeyError):
        return False
    return fields[0] in ("c_addr", "addr")  # numba has had both names


def function_cast(function_type: Any, address_type: Any) -> Any:
    """Return an intrinsic that turns the C address of a function into the function."""

    @intrinsic
    def cast(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, args: Any) -> Any:
            from numba.core import cgutils

            function = cgutils.create_struct_proxy(function_type)(context, builder)
            # The first field is the C address; numba has changed its name but not its place.
            function[0] = builder.inttoptr(args[0], context.get_value_type(types.voidptr))
            return function._getvalue()

        return function_type(address_type), generate

    return cast


@contextmanager
def compile_seconds() -> Iterator[list[float]]:
    """Yield a list that holds, in the end, the seconds that numba compiled; else it stays empty."""
    seconds: list[float] = []
    try:
        from numba.core.event import install_timer
    except ImportError:
        install_timer = None
    known = install_timer is not None and not _is_left_alone("timer")
    with install_timer("numba:compiler_lock", seconds.append) if known else nullcontext():
        yield seconds
