"""Programs that are refused: what is tested of each."""

from __future__ import annotations

from typing import Any

import pytest
from evaluate import read_call
from reading import VECTOR

from transformer.core.errors import TransformError


def check_refused(function: Any, message: str, place: str, instead: str, argument: Any = VECTOR) -> None:
    """A function is refused with this message, at this place of its file, and told what to write instead."""
    with pytest.raises(TransformError) as caught:
        read_call(function, argument)
    error = caught.value
    assert message in error.message
    assert error.origin is not None and error.origin.file == function.__code__.co_filename
    assert place in error.origin.text
    assert instead in str(error)
