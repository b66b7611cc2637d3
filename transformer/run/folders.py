"""Folders of the cache: only those that belong to the user and that nobody else can write to."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from ..settings import config


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


_told: set[Path] = set()


def private_folder(name: str) -> Path | None:
    """A folder of the cache for what is run without being looked at. All of the cache has to be private;
    where it is not, that is told once."""
    folder = usable_folder(config.cache) and usable_folder(config.cache / name)
    if folder is None and config.cache not in _told:
        _told.add(config.cache)
        warnings.warn(f"compiled code is not kept: the folder {config.cache} cannot be used. It must belong to "
                      f"you and be writable by nobody else (chmod 700); set transformer.config.cache to another one",
                      RuntimeWarning, stacklevel=2)
    return folder


MOST_KEPT = 4000


def trim(folder: Path, most: int = MOST_KEPT) -> None:
    """Drops the oldest quarter of what is in a folder, once it is too much. Others may do so as well."""
    found = list(os.scandir(folder))
    if len(found) <= most:
        return
    for item in sorted(found, key=_changed)[:len(found) - most * 3 // 4]:
        if item.is_dir(follow_symlinks=False):
            shutil.rmtree(item.path, ignore_errors=True)
        else:
            Path(item.path).unlink(missing_ok=True)


def _changed(item: os.DirEntry[str]) -> float:
    try:
        return item.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def write_whole(path: Path, content: bytes, mode: int = 0o600, name: Callable[[str, Path], None] = os.replace) -> None:
    """Writes a file whole or not at all; `name` gives it its name."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, mode)
        name(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
