"""The samples: they run and get where they claim, and the sources beside them are what is generated."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from golden_checks import without_versions
from transformer_cli.main import main

SAMPLES = Path(__file__).parent.parent / "samples"

KEPT = [
    ("digits", ["digits.py:loss", "--wrt", "params", "--value", "--example", "example"]),
    ("newton", ["newton.py:cube_root", "--value", "--types", "a: f64"]),
    ("kepler", ["kepler.py:misfit", "--value", "--wrt", "unknowns", "--example", "example"]),
]


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=SAMPLES, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_digits_are_learned() -> None:
    found = re.search(r"test accuracy (\d+\.\d) %", run("digits.py", "--epochs", "12"))
    assert found is not None and float(found[1]) >= 95.0


def test_digits_are_learned_by_convolutions() -> None:
    printed = run("conv_digits.py", "--epochs", "3", "--channels", "4", "--rate", "0.01", "--plain")
    found = re.search(r"test accuracy (\d+\.\d) %", printed)
    assert found is not None and float(found[1]) >= 70.0


def test_devices_learn_as_one_does() -> None:
    printed = run("parallel_digits.py", "--epochs", "3", "--devices", "3")
    found = re.search(r"largest difference from one device: (\S+)", printed)
    assert "def step_pmap(params, velocity, images, labels):" in printed
    assert found is not None and float(found[1]) < 1e-12


def test_characters_are_learned() -> None:
    printed = run("characters.py", "--steps", "30", "--every", "30", "--length", "16", "--width", "16", "--plain",
                  "--rate", "0.02")
    found = re.search(r"training loss (\S+) -> \S+, test (\S+)$", printed, re.MULTILINE)
    assert "-- step 30" in printed and "\nShall " in printed and "ms a step" in printed
    assert found is not None and float(found[2]) < 3.3 < float(found[1])


def test_newton_agrees_with_the_closed_form() -> None:
    errors = [float(line.split()[-1]) for line in run("newton.py").splitlines() if re.search(r"e-\d+$", line)]
    assert len(errors) >= 5 and max(errors) < 1e-10


def test_the_orbit_is_found() -> None:
    rows = re.findall(r"^(?:velocity [xy]|mass) +(\S+) +(\S+) +(\S+) +(\S+)$", run("kepler.py"), re.MULTILINE)
    assert len(rows) == 3
    for _, fit, error, truth in rows:
        assert abs(float(fit) - float(truth)) < 4 * float(error)


@pytest.mark.parametrize("name, arguments", KEPT, ids=lambda part: part if isinstance(part, str) else "")
def test_source_beside_a_sample_is_generated(
    name: str, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SAMPLES)
    path = tmp_path / f"{name}_gradient.py"
    assert main(["grad", *arguments, "-o", str(path)]) == 0
    assert without_versions(path.read_text()) == without_versions((SAMPLES / path.name).read_text())
