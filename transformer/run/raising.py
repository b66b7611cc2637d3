"""Errors that leave compiled code: their text in one piece, and the user's line.

Compiled code raises a text with numbers in pieces, ``IndexError("index", 7, "is out of bounds …", 5)``, and its
traceback ends at a line of the generated file.
"""

from __future__ import annotations

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
        places = _places.get(trace.tb_frame.f_code.co_filename)
        found = found if places is None else places.get(trace.tb_lineno, found)
        trace = trace.tb_next
    return found
