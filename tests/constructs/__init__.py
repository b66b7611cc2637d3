"""A tiny program for every row of the table of Python constructs in docs/supported.md.

Programs that are supported are run, and their derivatives compared with differences; those that are
refused have to be refused with that error, and at a place in these files.
"""

from __future__ import annotations

from . import arrays, branches, calls, containers, effects, expressions, loops, objects, statements
from .rows import Row, Section

SECTIONS: tuple[Section, ...] = tuple(
    module.SECTION for module in (calls, objects, statements, branches, loops, expressions, containers, arrays, effects)
)
ROWS: tuple[Row, ...] = tuple(row for section in SECTIONS for row in section.rows)
