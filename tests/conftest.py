import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fuzz.alike import draw_alike
from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=True, database=None)
settings.load_profile("project")
draw_alike()

gc.set_threshold(50_000, 20, 50)  # much is made and kept here: to look for garbage often takes a tenth of the time
os.environ.setdefault("TRANSFORMER_CHECK", "1")  # Core is checked between all stages
os.environ["TRANSFORMER_THREADS"] = "2"  # on every machine: what is compiled for one has other loops


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew; their numbers are checked all the same",
    )


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What other versions of this package left behind plays no part."""
    from transformer import config

    before, config.cache = config.cache, tmp_path_factory.mktemp("cache")
    config.cache.chmod(0o700)
    yield
    config.cache = before


@pytest.fixture
def young_garbage() -> Iterator[None]:
    """Of all that is kept by then, what looks for garbage looks at that of the test alone: it takes seconds else."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def fresh_registry() -> Iterator[None]:
    """Ops defined in a test are gone after it."""
    from transformer.ops.registry import registry

    before = registry.by_function
    yield
    registry.by_function = before
    registry.version += 1


@pytest.fixture
def module(tmp_path: Path) -> Any:
    """Writes a file, runs it, and gives its names; bytes are written as they are."""
    from sources import modules_in
    return modules_in(tmp_path)


@pytest.fixture
def model_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: an empty one but for a model and its helper."""
    from cli_model import HELPER, MODEL

    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name in ("model", "helper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.fixture
def gpus_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that takes what stands for CuPy in a test."""
    from transformer.run.gpu import library as gpu
    from transformer.run.gpu import streams as gpu_streams

    def use(library: Any) -> None:
        monkeypatch.setattr(gpu, "why_not", lambda: None)
        monkeypatch.setattr(gpu_streams, "_streams", {})
        monkeypatch.setitem(sys.modules, "cupy", library)
        gpu.library.cache_clear()

    yield use
    gpu.library.cache_clear()


@pytest.fixture
def a_gpu(gpus_of: Any) -> None:
    """One GPU, of which stand-ins note what is asked of it."""
    from gpu_standins import CUDA, LIBRARY
    CUDA.begin()
    gpus_of(LIBRARY)
