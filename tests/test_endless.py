"""Iterators without an end: however many of the first items are left out, no number of iterations is made up."""

from __future__ import annotations

import re

import numpy as np
import pytest
from corpus import stepping

from transformer import grad


@pytest.mark.parametrize("program", stepping.PROGRAMS, ids=lambda program: program.name)
def test_no_number_stands_for_none(program) -> None:
    """2**62 iterations would be split into blocks, each as large as memory."""
    arguments = program.example(np.random.default_rng(0))
    text = grad(program.function).source_for(*arguments)
    assert not re.search(r"\d{12,}", re.sub(r"\d+\.\d+", "", text))
