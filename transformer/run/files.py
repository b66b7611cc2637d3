"""Generated source as real files, so that pdb, tracebacks and `inspect.getsource` work.

A file is named by the hash of its content, written once and never changed; what runs is the text in
memory, never a file read back. A folder that others could write to is not used: the source is then
known to `linecache` alone.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..config import config


def load(source: str, name: str, namespace: dict[str, Any]) -> Any:
    """The function `name` that `source` defines, with `namespace` as its module's globals."""
    path = _stored(source, name)
    lines = source.splitlines(keepends=True)
    linecache.cache[path] = (len(source), None, lines, path)
    scope = {"__name__": f"transformer.generated.{name}", "__file__": path, **namespace}
    exec(compile(source, path, "exec"), scope)
    return scope[name]


def _stored(source: str, name: str) -> str:
    """The path of the file that holds `source`; a made-up one where no file may be written."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    file = f"{name}_{digest}.py"
    folder = usable_folder(config.cache / "source")
    if folder is None:
        return f"<generated {file}>"
    path = folder / file
    try:
        if not path.exists():
            _write(path, source)
    except OSError:
        return f"<generated {file}>"
    return str(path)


def usable_folder(folder: Path) -> Path | None:
    """The folder, made if need be; None unless it belongs to this user and only they can write it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if sys.platform == "win32":
            return folder
        status = folder.stat()
    except OSError:
        return None
    private = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if private else None


def _write(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


write_whole = _write
