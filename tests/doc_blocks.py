"""Code blocks of the documentation: found, run, and what they print or raise."""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer import config
from transformer.__main__ import ensure_command_line
from transformer.core.errors import TransformError

ensure_command_line()
from transformer_cli.main import main  # noqa: E402

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs"

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PRELUDE = """
import linecache
import math
import time
from pathlib import Path

import numpy as np
from transformer import *
"""


@dataclass(frozen=True)
class Case:
    """A section of docs/errors.md: a program that is refused, the message, and one that is not."""

    kind: str
    title: str
    wrong: str
    message: str
    right: str


def blocks(text: str, language: str) -> list[str]:
    return [found["text"] for found in BLOCK.finditer(text) if found["language"] == language]


def sections(page: str, level: int) -> Iterator[tuple[str, str]]:
    """Headings of a level, each with the text up to the next one of this level or a higher one."""
    parts = re.split(rf"^(#{{2,{level}}}) (.+)\n", page, flags=re.MULTILINE)
    for marks, title, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        if len(marks) == level:
            yield title, text


def error_cases(page: str) -> list[Case]:
    """The cases of docs/errors.md. The headings of level 2 are the error classes."""
    return [case for part in re.split(r"^(?=## )", page, flags=re.MULTILINE) for case in _cases_of(part)]


def _cases_of(part: str) -> Iterator[Case]:
    kind = part.partition("\n")[0].removeprefix("## ")
    for title, text in sections(part, 3):
        wrong, right = blocks(text, "python")
        (message,) = blocks(text, "text")
        yield Case(kind, title, wrong, message, right)


def run_block(source: str, file: str = "program.py") -> dict[str, Any]:
    """Runs a block as if it stood in a file, after the imports that all blocks have."""
    names: dict[str, Any] = {"__name__": file.removesuffix(".py")}
    exec(PRELUDE, names)
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    before = config.cpu_devices
    try:
        exec(compile(source, file, "exec", dont_inherit=True), names)
    finally:
        config.cpu_devices = before
    return names


def refusal(case: Case) -> TransformError:
    """The error that the wrong program of a case raises."""
    with working_folder():
        try:
            run_block(case.wrong)
        except TransformError as error:
            error.__notes__ = [str(error).replace(str(Path.cwd()) + "/", "")]
            return error
    raise AssertionError(f"{case.title}: nothing is raised")


def shown(error: TransformError) -> str:
    """The text of a refusal, without the folder it was made in."""
    return error.__notes__[0]


@contextlib.contextmanager
def working_folder() -> Iterator[Path]:
    """An empty folder that is the current one, and from which modules are imported."""
    others = sys.modules.pop("model", None)       # what another test imported under the name used here
    before = set(sys.modules)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        sys.path.insert(0, "")
        try:
            yield Path(folder)
        finally:
            sys.path.remove("")
            for name in set(sys.modules) - before:
                if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                    del sys.modules[name]
            sys.modules.pop("model", None)
            if others is not None:
                sys.modules["model"] = others


def messages_filled_in(page: str) -> str:
    """docs/errors.md with every message as it is today."""
    for case in error_cases(page):
        place = page.index(case.wrong)
        old = f"```text\n{case.message}```"
        start = page.index(old, place)
        page = page[:start] + f"```text\n{shown(refusal(case))}\n```" + page[start + len(old) :]
    return page


def printed(page: str, position: int) -> str:
    """What the last Python block before `position` prints."""
    source = blocks(page[:position], "python")[-1]
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        run_block(source)
    return f"```python\n{text.getvalue().rstrip()}\n```"


def emitted(page: str, position: int) -> str:
    """What the last command before `position` writes about the program that opens its section."""
    section = page[page.rindex("\n## ", 0, position) : position]
    program, command = blocks(section, "python")[0], blocks(section, "text")[-1]
    return f"```python\n{emitted_file(program, command)}\n```"


def emitted_file(program: str, command: str) -> str:
    """The generated file, without the text at its top, which tells versions."""
    words = shlex.split(command)[1:]
    text = io.StringIO()
    with working_folder() as folder, contextlib.redirect_stdout(text):
        name = next(word for word in words if word.partition(":")[0].endswith(".py")).partition(":")[0]
        (folder / name).write_text(program)
        assert main(words) == 0
    return re.sub(r'\A""".*?"""\n+', "", text.getvalue(), flags=re.DOTALL).rstrip()
