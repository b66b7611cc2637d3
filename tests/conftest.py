import gc
import os

import pytest
from hypothesis import settings

settings.register_profile("project", deadline=None, derandomize=True, database=None)
settings.load_profile("project")

gc.set_threshold(50_000, 20, 50)  # much is made and kept here: to look for garbage often takes a tenth of the time
os.environ.setdefault("TRANSFORMER_CHECK", "1")  # Core is checked between all stages
os.environ["TRANSFORMER_THREADS"] = "2"  # on every machine: what is compiled for one has other loops


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew; their numbers are checked all the same",
    )
