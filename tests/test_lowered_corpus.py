"""Programs of the corpus as explicit loops, run as plain Python: right, or refused at their place.

Every program: `TRANSFORMER_TEST_ALL=1 pytest tests/test_lowered_corpus.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from corpus import ALL, Program
from test_lowered_programs import check, transformed
from thinned import some

from transformer.core.errors import NotSupported, TransformError

PROGRAMS = [program for program in ALL if "expected" not in program.tags]
LOOPS = [program for program in PROGRAMS if "loops" in program.tags]
VALUES, DERIVED = [*some(PROGRAMS, 10), *LOOPS], [*some(PROGRAMS, 12, 1), *LOOPS]
CHUNKS = 24


def run(program: Program, order: int) -> None:
    """Compares what the loops give with NumPy; refusals have a place. Of every other program threads share loops."""
    try:
        check(transformed(program, order), program, program.example(np.random.default_rng(0)), compiled=False,
              threads=len(program.name) % 2 == 0)
    except NotSupported as refused:
        assert "File " in str(refused), refused
    except TransformError:
        assert order                                                     # no gradient either


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_values(chunk: int) -> None:
    """Of every tenth program; a gradient has the loops of its value, too."""
    for program in VALUES[chunk::CHUNKS]:
        run(program, 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_gradients(chunk: int) -> None:
    """Of every twelfth, and of those whose loops were wrong once."""
    for program in DERIVED[chunk::CHUNKS]:
        run(program, 1)
