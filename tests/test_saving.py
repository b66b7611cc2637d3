"""Checkpoints in files: what goes in comes out, or is refused; a crash loses a step at most."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

from transformer import checkpoint, config, device_put, devices, pmap, random, tree


class State(NamedTuple):
    count: int
    moments: dict[str, np.ndarray]


@dataclass
class Model:
    w: np.ndarray
    state: State


KINDS = ["f2", "f4", "f8", "c8", "c16", "i1", "u4", "i8", "?"]
TREES: list[Any] = [
    {"w": np.arange(6.0).reshape(2, 3), "b": [np.zeros(3, np.float32), (), None]},
    (1, 2.5, True, "text", float("inf"), float("nan"), -0.0, 2**70, {}, []),
    {(1, "a"): np.float32(0.1), 3: np.array(2.0), "deep": ({"x": [{}]},)},
    [np.zeros((0, 3)), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(10)[::3]],
    np.arange(3),
    None,
    [np.random.default_rng(0).integers(0, 2, (2, 3)).astype(kind) for kind in KINDS],
]


def same(found: Any, wanted: Any) -> None:
    assert tree.structure(found) == tree.structure(wanted)
    for one, other in zip(tree.leaves(found), tree.leaves(wanted), strict=True):
        assert type(one) is type(other)
        if isinstance(other, (np.ndarray, np.generic)):
            assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kept", TREES, ids=range(len(TREES)))
def test_what_goes_in_comes_out(kept: Any, tmp_path: Path) -> None:
    checkpoint.save(tmp_path, kept, 3)
    step, found = checkpoint.load(tmp_path)
    assert step == 3
    same(found, kept)
    for leaf in tree.leaves(found):
        assert not isinstance(leaf, np.ndarray) or leaf.flags.writeable


def test_classes_are_shown() -> None:
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        kept = Model(np.ones(2), State(4, {"m": np.zeros(2)}))
        checkpoint.save(folder, kept, 0)
        with pytest.raises(ValueError, match="tree was a Model; pass load a tree"):
            checkpoint.load(folder)
        _, found = checkpoint.load(folder, like=Model(np.zeros(2), State(0, {"m": np.zeros(2)})))
        same(found, kept)
        with pytest.raises(ValueError, match="moments has different keys than like=:"):
            checkpoint.load(folder, like=Model(np.zeros(2), State(0, {"v": np.zeros(2)})))
        with pytest.raises(ValueError, match="tree was a Model of 2 items, like= has list"):
            checkpoint.load(folder, like=[1, 2])


def test_the_newest_are_kept(tmp_path: Path) -> None:
    for step in (1, 5, 3, 12):
        checkpoint.save(tmp_path / "runs", {"step": step}, step, keep=2)
    assert checkpoint.steps(tmp_path / "runs") == [12, 5]
    assert checkpoint.load(tmp_path / "runs", step=5) == (5, {"step": 5})
    assert sorted(os.listdir(tmp_path / "runs")) == ["step_00000005.ckpt", "step_00000012.ckpt"]


DAMAGES = {
    "cut short": lambda content: content[:-7],
    "cut to nothing": lambda content: b"",
    "flipped": lambda content: content[:60] + bytes([content[60] ^ 1]) + content[61:],
    "flipped at the end": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "longer": lambda content: content + b"x",
    "another version": lambda content: content.replace(b"checkpoint 1", b"checkpoint 9"),
    "another file": lambda content: b"PK" + content,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_passed_over(damage: str, tmp_path: Path) -> None:
    checkpoint.save(tmp_path, {"w": np.arange(100.0)}, 1)
    path = checkpoint.save(tmp_path, {"w": np.zeros(100)}, 2)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.warns(RuntimeWarning, match=r"step_00000002\.ckpt is not used"):
        step, found = checkpoint.load(tmp_path)
    assert step == 1 and found["w"][5] == 5
    with pytest.raises(ValueError, match="step_00000002"):
        checkpoint.load(tmp_path, step=2)


def test_nothing_is_there(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(FileNotFoundError, match="does not have a checkpoint that is complete"):
            checkpoint.load(place)
    assert checkpoint.steps(tmp_path / "missing") == []


@pytest.mark.parametrize("kept", [{"f": print}, [np.array(["a"], object)], np.array(["text"])])
def test_other_leaves_are_refused(kept: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="tree.* cannot store"):
        checkpoint.save(tmp_path, kept, 0)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("step, keep", [(-1, 3), (0, 0)])
def test_steps_are_counted_from_0(step: int, keep: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 0, and keep at least 1"):
        checkpoint.save(tmp_path, {}, step, keep)


def test_what_lies_on_devices_is_gathered(tmp_path: Path) -> None:
    before, config.cpu_devices = config.cpu_devices, 2
    try:
        checkpoint.save(tmp_path, {"x": pmap(lambda x: 2 * x)(np.arange(4.0).reshape(2, 2))}, 0)
    finally:
        config.cpu_devices = before
    np.testing.assert_array_equal(checkpoint.load(tmp_path)[1]["x"], 2 * np.arange(4.0).reshape(2, 2))


TRAINING = """
import os, signal, sys
import numpy as np
from transformer import checkpoint, random
folder, last, fatal = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
try:
    start, kept = checkpoint.load(folder)
except FileNotFoundError:
    start, kept = -1, {"w": np.zeros(3), "key": random.key(0)}
w, key = kept["w"], kept["key"]
for step in range(start + 1, last):
    key, own = random.split(key)
    w = 0.9 * w + random.normal(own, (3,))
    if step == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    checkpoint.save(folder, {"w": w, "key": key}, step)
print(w.tobytes().hex())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes that are killed")
def test_a_killed_run_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(TRAINING)

    def run(folder: str, fatal: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(program), str(tmp_path / folder), "6", str(fatal)],
                              capture_output=True, text=True, timeout=120)

    assert run("broken", 3).returncode == -signal.SIGKILL
    assert checkpoint.steps(tmp_path / "broken")[0] == 2
    (tmp_path / "broken" / "step_00000002half.tmp").write_bytes(b"what a crash in the middle of a write leaves")
    assert run("broken", -1).stdout == run("whole", -1).stdout != ""


def test_arrays_on_devices_come_back(tmp_path: Path) -> None:
    """So that a run goes on to the same numbers, also of those that NumPy computes with otherwise."""
    before, config.cpu_devices = config.cpu_devices, 2
    try:
        kept = {"w": device_put(np.array([0.1, 3.0], ml_dtypes.bfloat16), "cpu:1"), "key": random.key(1), "z": 1.5 - 2j}
        checkpoint.save(tmp_path, kept, 1)
        _, alone = checkpoint.load(tmp_path)
        _, shown = checkpoint.load(tmp_path, like=kept)
        assert alone["w"].device is devices()[0] and shown["w"].device is devices()[1]
        assert alone["z"] == 1.5 - 2j and type(alone["z"]) is complex and type(alone["key"]) is np.ndarray
        for found in (alone, shown):
            np.testing.assert_array_equal(np.asarray(found["w"] * 0.3), np.asarray(kept["w"] * 0.3))
    finally:
        config.cpu_devices = before
    with pytest.raises(ValueError, match="was a leaf, but like= has list"):
        checkpoint.load(tmp_path, like={**kept, "w": [1]})


def test_bfloat16_is_known_where_nothing_else_uses_it(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, np.ones(2, ml_dtypes.bfloat16), 1)
    program = f"from transformer import checkpoint; print(checkpoint.load({str(tmp_path)!r})[1].dtype)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "bfloat16\n"
