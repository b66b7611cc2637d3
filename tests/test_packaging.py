from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_package_is_installed() -> None:
    """The list in setup.cfg is kept by hand, as `cli` is installed under another name."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    listed = setup["options"]["packages"].split()
    inits = (ROOT / "transformer").rglob("__init__.py")
    found = [".".join(init.parent.relative_to(ROOT).parts) for init in inits]
    assert sorted(listed) == sorted([*found, "transformer_cli"])
