"""The cache that is looked up before anything is read: what was generated for a function in another process.

A record holds the source that was generated, what it rests on, and the marks of all that the function took
from outside (see `provenance`). It is used if the arguments have its types, its guards hold, and what the
ways lead to in this process has the same marks. So a function that was edited, or whose globals were, is
read anew; and where anything has no mark nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..core.errors import Origin
from ..core.types import ArrayType
from ..ops.registry import registry
from ..read.interface import AxislessType, Hidden
from ..settings import config
from ..transform.derived import taken_apart
from .compiling.objects import read_marked, with_mark
from .current import hidden_key
from .dispatch import Entry, type_key
from .folders import private_folder, trim, write_whole
from .provenance import Unmarked, Way, Ways, followed, holder_of, mark_of, way_to_class
from .sharing import Memory
from .signature import Description

MARK = b"transformer record 1\n"
MOST_RECORDS = 64
PLAIN = (ArrayType, AxislessType, str, bool, int, float, complex, type(None), np.dtype)


@dataclass
class Loops:
    """A module of explicit loops, as text: `name` is its function, `kernel` what is compiled and called by it,
    `options` say how its functions are compiled, `namespace` are objects that its function mentions, `given` those
    that are compiled into the kernel, `raising` what its lines that raise come from."""

    source: str
    name: str
    kernel: str
    options: dict[str, dict[str, Any]]
    namespace: dict[str, Any]
    given: dict[str, Any]
    raising: dict[int, Origin] = field(default_factory=dict)


@dataclass
class Record:
    """What was generated for one signature, and what it rests on."""

    loops: Loops
    types: Any
    static: set[str]
    guards: list[Any]
    integers: dict[Any, str]
    memory: Memory
    hidden: list[tuple[str, Way]]
    hidden_key: tuple[Any, ...]
    marks: list[tuple[Way, str]]
    watched: list[Way]


class Index:
    """The records of one function with its transformations."""

    def __init__(self, target: Any, options: Any) -> None:
        self.user, self.modes = taken_apart(target)
        self.options = options
        self._records: dict[Path, list[Record]] = {}

    def records(self) -> list[Record]:
        """The records on disk, read once."""
        folder = self._folder()
        if folder is None:
            return []
        if folder not in self._records:
            self._records[folder] = [record for path in sorted(folder.glob("*.bin")) if (record := _read(path))]
        return self._records[folder]

    def _folder(self) -> Path | None:
        """Where the records are; None where there can be none."""
        if registry.by_function:                 # ops that the user defined may decide anything
            return None
        root = private_folder("index")
        try:
            key = mark_of((self.user, repr(self.modes), repr(self.options), config.threads > 1, config.enable_x64,
                           _installation()))
        except Unmarked:
            return None
        return None if root is None else root / key[:32]

    def find(self, describe: Callable[[set[str]], Description]) -> Record | None:
        """The record that is right for a call; `describe` gives its abstract arguments with these paths
        static."""
        return next((record for record in self.records() if self._fits(record, describe(record.static))), None)

    def _fits(self, record: Record, described: Description) -> bool:
        if type_key(described) != record.types:
            return False
        values = {**described.hints, **{atom: described.hints[path] for atom, path in record.integers.items()}}
        return all(guard.holds(values) for guard in record.guards) and self._is_current(record)

    def _is_current(self, record: Record) -> bool:
        """Whether what the function takes from outside is what it was: arrays by their types."""
        try:
            return all(mark_of(followed(way, self.user)) == mark for way, mark in record.marks) and \
                hidden_key(self._hidden(record)) == record.hidden_key
        except (Unmarked, LookupError, AttributeError, TypeError, ValueError):
            return False

    def _hidden(self, record: Record) -> list[Hidden]:
        return [_hidden(name, len(types) == 1, *holder_of(way, self.user))
                for (name, way), types in zip(record.hidden, record.hidden_key, strict=True)]

    def entry(self, record: Record, function: Callable[..., Any]) -> Entry | None:
        """The entry of a record, whose `function` is compiled."""
        hidden = self._hidden(record)
        if hidden_key(hidden) != record.hidden_key:
            return None
        watched = [(*holder_of(way, self.user), followed(way, self.user)) for way in record.watched]
        return Entry(function, record.loops.source, None, record.guards, hidden, watched, record.integers,
                     record.memory, record.hidden_key)

    def keep(self, entry: Entry, loops: Loops, described: Description, static: set[str]) -> None:
        """Writes a record, if what the entry rests on can be told by another process."""
        folder = self._folder()
        if folder is None:
            return
        try:
            content = pickle.dumps(self._record(entry, loops, described, static))
        except (Unmarked, pickle.PicklingError, AttributeError, TypeError):
            return
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if len(list(folder.glob("*.bin"))) < MOST_RECORDS:
                name = hashlib.sha256(content).hexdigest()[:32]
                write_whole(folder / f"{name}.bin", with_mark(MARK, content))
                trim(folder.parent)
        except OSError:
            pass

    def _record(self, entry: Entry, loops: Loops, described: Description, static: set[str]) -> Record:
        types: Any = type_key(described)
        if loops.given or not all(isinstance(leaf, PLAIN) for _, leaf in types[1]):
            raise Unmarked("an object among the arguments")
        ways, watched = Ways(self.user), []
        marks = [(way_to_class(made), mark_of(made)) for made in loops.namespace.values()]
        for holder, key, found in entry.watched:
            way = ways.of_watch(holder, key)
            ways.add(found, way)
            watched.append(way)
            marks.append((way, mark_of(found)))
        hidden = [(each.name, _way_of_hidden(ways, each.fetch)) for each in entry.hidden]
        return Record(loops, types, set(static), entry.guards, entry.integers, entry.memory, hidden,
                      entry.hidden_key, marks, watched)


def _hidden(name: str, is_number: bool, holder: Callable[[Any], Any], key: Any) -> Hidden:
    """What comes from outside, of which no more is known than how it is fetched."""
    var: Any = None
    return Hidden(var, name, partial(holder, key), is_number)


def _way_of_hidden(ways: Ways, fetch: Any) -> Way:
    """The way to a hidden array: `fetch` is a holder with its key."""
    *held, key = fetch.args
    return ways.of_watch(partial(fetch.func, *held) if held else fetch.func, key)


def _read(path: Path) -> Record | None:
    try:
        record = pickle.loads(read_marked(path, MARK))
    except Exception:                            # a damaged record, or one of what is not there any more
        path.unlink(missing_ok=True)
        return None
    return record if isinstance(record, Record) else None


@cache
def _installation() -> str:
    """What generates: the files of this package, and the versions of others."""
    try:
        parts: Any = sorted(_sources(str(Path(__file__).parent.parent)))
    except OSError:                              # in an archive
        parts = __version__
    return hashlib.sha256(repr((parts, np.__version__, sys.version)).encode()).hexdigest()


def _sources(folder: str) -> Iterator[tuple[str, int, int]]:
    """The files of Python below a folder, with the times of their last change and their sizes."""
    for item in os.scandir(folder):
        if item.name.endswith(".py"):
            status = item.stat()
            yield item.path, status.st_mtime_ns, status.st_size
        elif item.is_dir() and item.name.isidentifier():
            yield from _sources(item.path)
