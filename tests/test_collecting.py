"""No garbage is looked for while a function comes into being, and none is kept for that."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from transformer.run.collecting import uncollected


class Ring:
    """Garbage that only a look for cycles finds."""

    def __init__(self) -> None:
        self.itself = self


def test_nothing_is_looked_for_inside() -> None:
    with uncollected(), uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_as_before_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), uncollected():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_who_looks_for_no_garbage_goes_on_so() -> None:
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.usefixtures("young_garbage")
def test_garbage_made_inside_is_found_later() -> None:
    found: list[Any] = []
    with uncollected():
        found.append(weakref.ref(Ring()))
    gc.collect()
    assert found[0]() is None


@pytest.mark.usefixtures("young_garbage")
def test_what_others_have_frozen_stays_frozen() -> None:
    frozen = gc.get_freeze_count()
    with uncollected():
        pass
    assert gc.get_freeze_count() >= frozen > 0
