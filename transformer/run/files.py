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
from pathlib import Path
from typing import Any

from ..settings import config
from .folders import usable_folder, write_whole


def load(source: str, name: str, namespace: dict[str, Any]) -> Any:
    """The function `name` that `source` defines, with `namespace` as its module's globals."""
    return load_module(source, name, namespace)[name]


def load_module(source: str, name: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """The globals of the module `source`, which defines `name`, with `namespace` among them."""
    stem = f"{name}_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    path = _stored(source, stem)
    lines = source.splitlines(keepends=True)
    linecache.cache[path] = (len(source), None, lines, path)
    scope = {"__name__": f"transformer.generated.{stem}", "__file__": path, **namespace}
    exec(compile(source, path, "exec"), scope)
    return scope


def _stored(source: str, stem: str) -> str:
    """The path of the file that holds `source`; a made-up one where no file may be written."""
    folder = usable_folder(config.cache / "source")
    if folder is None:
        return f"<generated {stem}.py>"
    path = folder / f"{stem}.py"
    try:
        if not path.exists():
            write_whole(path, source.encode())
    except OSError:
        return f"<generated {stem}.py>"
    return str(path)


def write_new(path: Path, text: str, force: bool = False) -> None:
    """Writes a file whole or not at all. One that exists is kept, and `FileExistsError` raised,
    unless `force`; devices and pipes are written to as they are."""
    if path.exists() and not path.is_file() and not path.is_dir():
        path.write_text(text, encoding="utf-8")
        return
    path = Path(os.path.realpath(path))
    if force:
        write_whole(path, text.encode(), _usual_mode(path))
    elif path.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    else:
        write_whole(path, text.encode(), _usual_mode(path), _keeping)


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
