"""Generated source as real files, so that pdb, tracebacks and `inspect.getsource` work.

A file is named by the hash of its content, written once and never changed; what runs is the text in
memory, never a file read back. A folder that others could write to is not used: the source is then
known to `linecache` alone.
"""

from __future__ import annotations

import errno
import hashlib
import linecache
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..settings import config


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
    """The folder, made if need be; None unless it is this user's and only they can write to it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if sys.platform == "win32":
            return folder
        status = folder.stat()
    except OSError:
        return None
    private = status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if private else None


def write_new(path: Path, text: str, force: bool = False) -> None:
    """Writes a file whole or not at all. One that exists is kept, and `FileExistsError` raised,
    unless `force`; devices and pipes are written to as they are."""
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_text(text, encoding="utf-8")
        return
    path = Path(os.path.realpath(path))
    if force:
        _write(path, text, _usual_mode(path))
    elif path.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    else:
        _write(path, text, _usual_mode(path), _keeping)


def _keeping(temporary: str, path: Path) -> None:
    """Gives a file its name unless that is taken by now."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _usual_mode(path: Path) -> int:
    """The permissions of the file, or those that a new file gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _write(
    path: Path, text: str, mode: int = 0o600, name: Callable[[str, Path], None] = os.replace
) -> None:
    """Writes a file whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, mode)
        name(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
