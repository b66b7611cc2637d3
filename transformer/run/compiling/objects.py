"""Object code on disk: what numba compiled of a kernel, for the next process.

A file is named by the hash of all that decides what is in it: the text of the module, the types, the
machine, the versions. It is loaded without what numba prepares in order to compile, which takes most of
the time of a first call; if a symbol is missing then, that is made up for. A file that is damaged is dropped.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import threads
from ..folders import private_folder, trim, write_whole

MARK = b"transformer object 1\n"


@dataclass(frozen=True)
class Objects:
    """The object code of one module: `folder` holds that of all, `digest` is the hash of its text."""

    folder: Path
    digest: str


def objects_of(text: str) -> Objects | None:
    """Where the object code of a module is kept; None where no folder may be used."""
    folder = private_folder("objects")
    return None if folder is None else Objects(folder, hashlib.sha256(text.encode()).hexdigest())


def object_cache(objects: Objects, function: Any) -> Any:
    """A cache for a dispatcher of numba's."""
    return _cache_class()(objects, function.__name__)


@cache
def _cache_class() -> Any:
    from numba.core.caching import _Cache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps

    class ObjectCache(_Cache):
        """One file for each kernel and signature."""

        def __init__(self, objects: Objects, name: str) -> None:
            self.objects, self.name = objects, name

        @property
        def cache_path(self) -> str:
            return str(self.objects.folder)

        def enable(self) -> None:
            pass

        disable = flush = enable

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            path = self._path(sig, target_context)
            try:
                symbols, payload = pickle.loads(read_marked(path, MARK))
                if not _ready(symbols):
                    target_context.refresh()
                return CompileResult._rebuild(target_context, *payload)
            except FileNotFoundError:
                return None
            except Exception:                    # whatever a damaged file leads to: it is made anew
                path.unlink(missing_ok=True)
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            if data.lifted or data.library.has_dynamic_globals:
                return
            content = dumps((_symbols(data.library), data._reduce()))
            try:
                write_whole(self._path(sig, data.target_context), with_mark(MARK, content))
                trim(self.objects.folder)
            except OSError:                      # a full disk: the next process compiles again
                pass

        def _path(self, sig: Any, target_context: Any) -> Path:
            types = tuple(sig.args) if hasattr(sig, "args") else tuple(sig)
            whole = repr((self.objects.digest, self.name, types, target_context.codegen().magic_tuple(), versions()))
            return self.objects.folder / f"{self.name}_{hashlib.sha256(whole.encode()).hexdigest()[:32]}.bin"

    return ObjectCache


@cache
def versions() -> tuple[str, ...]:
    """The versions on which compiled code depends."""
    import llvmlite
    import numba
    import numpy

    from ... import __version__
    return __version__, numpy.__version__, numba.__version__, llvmlite.__version__, sys.version


def with_mark(mark: bytes, content: bytes) -> bytes:
    """The content of a file that tells whether it is whole."""
    return mark + hashlib.sha256(content).digest() + content


def read_marked(path: Path, mark: bytes) -> bytes:
    """What `with_mark` was given. Raises ValueError for a file that is damaged."""
    whole = path.read_bytes()
    start = len(mark) + 32
    if not whole.startswith(mark) or hashlib.sha256(whole[start:]).digest() != whole[len(mark):start]:
        raise ValueError(f"{path} is damaged")
    return whole[start:]


def _symbols(library: Any) -> list[str]:
    """What the object code refers to and does not define."""
    return [function.name for function in library._final_module.functions
            if function.is_declaration and not function.name.startswith("llvm.")]


def _ready(symbols: list[str]) -> bool:
    """Whether what object code refers to is there."""
    import llvmlite.binding as llvm
    _add_runtime()
    if threads.SHARE in symbols:
        threads.prepare()
    return all(llvm.address_of_symbol(symbol) is not None for symbol in symbols)


@cache
def _add_runtime() -> None:
    """Makes numba's functions for memory known by their names, as it does before it compiles."""
    import llvmlite.binding as llvm
    from numba.core.runtime import nrt
    for name, address in nrt._nrt.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
