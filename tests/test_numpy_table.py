"""The table of NumPy's functions says what really happens, and to all of them something does."""

from __future__ import annotations

import doc_tables
import numpy as np
import numpy_table
from doc_tables import rows_by_name, same_versions


def test_the_table_is_up_to_date() -> None:
    committed, made = numpy_table.PAGE.read_text(), numpy_table.page()
    if same_versions(committed):
        assert committed == made, "run: python tests/numpy_table.py"
    else:
        ours, theirs = rows_by_name(made), rows_by_name(committed)
        assert {name: ours[name] for name in ours.keys() & theirs.keys()} == {
            name: theirs[name] for name in ours.keys() & theirs.keys()
        }


def test_what_can_be_read_is_differentiated_and_compiled() -> None:
    """Lanes may part in size; nothing else is refused of what has a rule."""
    for line in numpy_table.PAGE.read_text().split("\n"):
        cells = line.split(" | ")
        if len(cells) == 6 and cells[1] == numpy_table.YES:
            assert cells[2] != numpy_table.NO and cells[4] != numpy_table.NO, line
            assert cells[3] != numpy_table.NO or "the size of an array differs from" in cells[5], line


def test_every_public_function_has_a_row_or_is_said_to_be_left_out() -> None:
    left_out = {name for names in numpy_table.SKIPPED.values() for name in names}
    listed = {name for name, _ in numpy_table.listed("np.")}
    for name, function in doc_tables.public(np):
        assert isinstance(function, type) or name in left_out or f"np.{name}" in listed, name
