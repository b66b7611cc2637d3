"""Errors that leave compiled code: their text in one piece, and the user's line.

Compiled code raises a text with numbers in pieces, ``IndexError("index", 7, "is out of bounds …", 5)``, and its
traceback ends at a line of the generated file.
"""

from __future__ import annotations

import linecache
import re

from ..core.errors import Origin

_places: dict[str, dict[int, Origin]] = {}


def note_places(file: str, places: dict[int, Origin]) -> None:
    """Notes which lines of the user's are behind lines of a generated file that raise."""
    _places[file] = places


def complete(error: BaseException) -> None:
    """Puts the text of an error together, and adds the user's line to it."""
    if is_in_pieces(error):
        error.args = (in_one_piece(error),)
    origin = _origin(error)
    if origin is not None and str(origin) not in getattr(error, "__notes__", ()):
        error.add_note(str(origin))


def is_in_pieces(error: BaseException) -> bool:
    return isinstance(error, IndexError) and len(error.args) == 4 and error.args[0] == "index"


def in_one_piece(error: BaseException) -> str:
    """The text of an error.

    >>> in_one_piece(IndexError("index", 7, "is out of bounds for axis 0 with size", 5))
    'index 7 is out of bounds for axis 0 with size 5'
    """
    return " ".join(map(str, error.args))


def _origin(error: BaseException) -> Origin | None:
    """The user's line behind the last line of generated code that an error came through."""
    trace, found = error.__traceback__, None
    while trace is not None:
        file, below = trace.tb_frame.f_code.co_filename, trace.tb_next
        if file in _places:
            origin = _places[file].get(trace.tb_lineno)
            found = origin or (found if below is None else _of_call(file, below.tb_frame.f_code.co_name)) or found
        trace = below
    return found


def _of_call(file: str, name: str) -> Origin | None:
    """The user's line behind the call of a library, of which compiled code leaves no trace: there has to be one call
    of a function with this name, or of any."""
    lines = {line: linecache.getline(file, line) for line in _places[file]}
    calls = [line for line, text in lines.items() if not text.lstrip().startswith(("raise ", "assert "))]
    named = [line for line in calls if re.search(rf"\b{re.escape(name)}\w*\(", lines[line])]
    origins = {str(_places[file][line]): _places[file][line] for line in named or calls}
    return next(iter(origins.values())) if len(origins) == 1 else None
