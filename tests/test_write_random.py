"""Random programs: arrays written in place while views and older versions live, in loops and branches.

A wrong number here would be a copy too few, a name bound too early, or a value nested past a write.
"""

from __future__ import annotations

import numpy as np
import pytest
from random_core import Generator
from writing import assert_right, source_of

SEEDS = 240


def arguments(seed: int) -> tuple[object, ...]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=6), rng.normal(size=(2, 3)), rng.normal(size=6), 0.7, 3


@pytest.mark.parametrize("first", range(0, SEEDS, 40))
def test_short_programs(first: int) -> None:
    for seed in range(first, first + 40):
        source = assert_right(Generator(seed).function(), *arguments(seed))
        assert max(map(len, source.splitlines())) <= 88, seed


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_long_programs(first: int) -> None:
    for seed in range(first, first + 10):
        assert_right(Generator(seed, length=40).function(), *arguments(seed))


def test_the_same_program_is_always_printed_alike() -> None:
    for seed in range(5):
        assert source_of(Generator(seed).function()) == source_of(Generator(seed).function())
