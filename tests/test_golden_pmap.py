"""Generated phases and drivers of the programs in golden_pmap/: as they are kept, and right.

Refresh with `pytest tests/test_golden_pmap.py --update-golden`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from transformer import config, pmap, tree, vmap

FOLDER = Path(__file__).parent / "golden_pmap"
SPECIFICATION = importlib.util.spec_from_file_location("golden_pmap_programs", FOLDER / "programs.py")
assert SPECIFICATION is not None and SPECIFICATION.loader is not None
PROGRAMS = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(PROGRAMS)


@pytest.fixture(autouse=True)
def devices() -> Iterator[None]:
    before, config.cpu_devices = config.cpu_devices, PROGRAMS.DEVICES
    yield
    config.cpu_devices = before


@pytest.mark.parametrize("name", PROGRAMS.CASES)
def test_generated_source(name: str, request: pytest.FixtureRequest) -> None:
    function, axis_name, in_axes, out_axes, args = PROGRAMS.CASES[name]
    mapped = pmap(function, axis_name, in_axes=in_axes, out_axes=out_axes)
    expected = vmap(function, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)(*args)
    for found, wanted in zip(tree.leaves(mapped(*args)), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-14)
    path = FOLDER / f"{name}.py"
    if request.config.getoption("--update-golden"):
        path.write_text(mapped.source)
    assert mapped.source == path.read_text()
