"""`python -m transformer` is the command `transformer`, also in a checkout that is not installed.

Installed, the folder `cli` is the package `transformer_cli`; in a checkout it is a plain folder
next to this package, and is loaded from there.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def ensure_command_line() -> None:
    """Makes `transformer_cli` importable."""
    if "transformer_cli" in sys.modules or importlib.util.find_spec("transformer_cli"):
        return
    folder = Path(__file__).resolve().parent.parent / "cli"
    spec = importlib.util.spec_from_file_location(
        "transformer_cli", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["transformer_cli"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    ensure_command_line()
    from transformer_cli.main import main

    sys.exit(main())
