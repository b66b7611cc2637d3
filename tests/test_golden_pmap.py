"""Generated phases and drivers of the programs in golden_pmap/: as they are kept, and right.

Refresh with `pytest tests/test_golden_pmap.py --update-golden`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from importing import imported

from transformer import config, pmap, tree, vmap

FOLDER = Path(__file__).parent / "golden_pmap"
PROGRAMS = imported(FOLDER / "programs.py", "golden_pmap_programs")


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "cpu_devices", PROGRAMS.DEVICES)


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
