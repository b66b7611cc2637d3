"""The examples of docs/containers.md run, and what they assert holds."""

from __future__ import annotations

import pytest
from doc_blocks import FOLDER, blocks, run_block

PAGE = blocks((FOLDER / "containers.md").read_text(), "python")


@pytest.mark.parametrize("number", range(len(PAGE)))
def test_example(number: int) -> None:
    run_block(PAGE[number], f"containers_{number}.py")
