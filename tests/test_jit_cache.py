"""What was compiled in one process serves the next; what changed, or is not to be trusted, does not."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import multiprocessing
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from transformer import config, grad, jit, nn, optim, tree, value_and_grad
from transformer.ops.registry import registry
from transformer.run import index as index_module
from transformer.run.folders import _told, trim

SCALE = 2.0
TABLE = np.array([1.0, 2.0])
other: Any = np


@pytest.fixture(autouse=True)
def cache(tmp_path: Path) -> Iterator[Path]:
    before, config.cache = config.cache, tmp_path / "cache"
    ops, registry.by_function = registry.by_function, {}      # what other tests have defined leaves no records
    yield config.cache
    config.cache, registry.by_function = before, ops


def helper(x):
    return x * SCALE


def total(x):
    return np.sum(helper(x))


def with_table(x):
    return np.sum(x * TABLE)


def power(x, n):
    for _ in range(n):
        x = x * x
    return x


@dataclass(frozen=True)
class Settings:
    scale: float
    name: str = "plain"


def is_restored(compiled: Any, *args: Any) -> bool:
    """Whether a call finds what another process would have left behind."""
    compiled(*args)
    return compiled._entry(args, {}).generated is None


def test_records_are_found_again(cache: Path) -> None:
    x = np.arange(6.0)
    assert not is_restored(jit(total), x)
    assert is_restored(jit(total), x) and jit(total)(x) == 30.0
    assert is_restored(jit(total), np.arange(7.0)) and jit(total)(np.arange(7.0)) == total(np.arange(7.0))
    assert not is_restored(jit(total), x.astype("f4"))
    assert not is_restored(jit(grad(total)), x)
    np.testing.assert_array_equal(jit(grad(total))(x), grad(total)(x))
    assert is_restored(jit(grad(total)), x)


def test_changes_outside_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(3.0)
    jit(total)(x)
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert not is_restored(jit(total), x) and jit(total)(x) == 15.0
    monkeypatch.setitem(globals(), "SCALE", 2.0)
    again = jit(total)
    assert is_restored(again, x) and again(x) == 6.0
    monkeypatch.setitem(globals(), "helper", lambda x: x + 1)
    assert again(x) == 6.0 and jit(total)(x) == 6.0
    monkeypatch.setitem(globals(), "helper", lambda x: x - 1)
    assert again(x) == 0.0 and jit(total)(x) == 0.0


def test_arrays_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(2.0)
    jit(with_table)(x)
    again = jit(with_table)
    assert is_restored(again, x) and again(x) == 2.0
    monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 7.0]))
    assert again(x) == 7.0
    monkeypatch.setitem(globals(), "TABLE", np.array([1.0, 7.0, 8.0]))
    with pytest.raises(ValueError, match="broadcast"):
        again(x)
    assert again(np.arange(3.0)) == 23.0


def test_what_was_an_array_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(index: Any):
        def doubled(x):
            y = x.copy()
            y[index] *= 2.0
            return y
        return doubled

    x = np.arange(4.0)
    for index in (1, np.array([2, 0]), 1, np.array([2, 0]), slice(1, 3), 1):
        np.testing.assert_array_equal(jit(make(index))(x), make(index)(x))
    compiled, gradient = jit(with_table), grad(with_table)
    for table in (np.ones(4), 2.0, 3, [1.0, 2.0, 3.0, 4.0], np.ones(4)):
        monkeypatch.setitem(globals(), "TABLE", table)
        assert compiled(x) == with_table(x)
        np.testing.assert_array_equal(gradient(x), np.ones(4) * table)


def test_static_integers_are_part_of_a_record() -> None:
    x = np.array([1.0, 2.0])
    compiled = jit(power, static_argnames="n")
    compiled(x, 2)
    again = jit(power, static_argnames="n")
    assert is_restored(again, x, 2) and not is_restored(again, x, 3)
    np.testing.assert_array_equal(again(x, 3), power(x, 3))


def test_closures_partials_and_settings() -> None:
    def make(settings: Settings, by: float):
        def scaled(x):
            return x * settings.scale + by
        return scaled

    x = np.arange(3.0)
    jit(make(Settings(2.0), 1.0))(x)
    again = jit(make(Settings(2.0), 1.0))
    assert is_restored(again, x)
    for settings, by in ((Settings(3.0), 1.0), (Settings(2.0), 4.0)):
        other = jit(make(settings, by))
        np.testing.assert_array_equal(other(x), x * settings.scale + by)
        assert other._entry((x,), {}).generated is not None
    jit(functools.partial(power, n=2))(x)
    assert not is_restored(jit(functools.partial(power, n=3)), x)


def test_modules_and_builtins_behind_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reading does not watch in one process may differ in the next."""
    def rounded(x):
        return other.sqrt(x) + abs(x[0])

    x = np.array([4.0, 9.0])
    monkeypatch.setitem(globals(), "other", np)
    np.testing.assert_array_equal(jit(rounded)(x), [6.0, 7.0])
    assert is_restored(jit(rounded), x)
    monkeypatch.setitem(globals(), "abs", lambda x: 0 * x)
    np.testing.assert_array_equal(jit(rounded)(x), [2.0, 3.0])
    monkeypatch.delitem(globals(), "abs")
    module = ModuleType("other_module")
    module.sqrt = np.square                                              # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "other_module", module)
    monkeypatch.setitem(globals(), "other", module)
    np.testing.assert_array_equal(jit(rounded)(x), [20.0, 85.0])
    assert is_restored(jit(rounded), x)
    module.sqrt = np.cbrt                                                # type: ignore[attr-defined]
    np.testing.assert_allclose(jit(rounded)(x), np.cbrt(x) + 4.0)


class Layer:
    def __init__(self, scale: float, weights: Any) -> None:
        self.scale, self.weights = scale, weights

    def applied(self, x):
        return self.scale * np.sum(self.weights * x)


def test_methods_of_objects() -> None:
    x = np.arange(3.0)
    assert jit(Layer(2.0, np.ones(3)).applied)(x) == 6.0
    again = jit(Layer(2.0, np.full(3, 2.0)).applied)
    assert is_restored(again, x) and again(x) == 12.0
    assert jit(Layer(3.0, np.ones(3)).applied)(x) == 9.0


def imported(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location("edited_module", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    return module


def test_edited_functions_are_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "edited_module.py"
    x = np.arange(3.0)
    for factor in (2.0, 3.0):
        module = imported(path, f"def scaled(x):\n    return x * {factor}\n")
        compiled = jit(module.scaled)
        np.testing.assert_array_equal(compiled(x), factor * x)
        assert compiled._entry((x,), {}).generated is not None
        assert is_restored(jit(module.scaled), x)


CLASSES = """
from dataclasses import dataclass, field
from typing import NamedTuple

class Pair(NamedTuple):
    value: float
    factor: float = {0}

@dataclass
class Kept:
    value: float
    factor: float = {0}

@dataclass
class Made:
    value: float
    factor: float = field(default_factory=lambda: {0})

def scaled(x):
    pair, kept, made = Pair(x), Kept(x), Made(x)
    return pair.value * pair.factor, kept.value * kept.factor, made.value * made.factor, pair
"""


def test_defaults_of_classes_are_read_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for factor in (2.0, 3.0):
        module = imported(tmp_path / "edited_module.py", CLASSES.format(factor))
        monkeypatch.setitem(sys.modules, "edited_module", module)
        assert jit(module.scaled)(5.0) == (5.0 * factor, 5.0 * factor, 5.0 * factor, (5.0, factor))
        assert is_restored(jit(module.scaled), 5.0)


OPTIMIZER = optim.adam(0.1)


def training_step(params, state, x):
    value, gradient = value_and_grad(layered)(params, x)
    updates, state = OPTIMIZER.update(gradient, state, params)
    return optim.apply_updates(params, updates), state, value


def layered(params, x):
    return np.sum(nn.layer_norm(x * params["w"]) ** 2)


def test_training_steps_are_found_again() -> None:
    params = {"w": np.array([1.0, 2.0])}
    args = params, OPTIMIZER.init(params), np.array([[3.0, 5.0]])
    compiled = jit(training_step)(*args)
    again = jit(training_step)
    assert is_restored(again, *args)
    restored = again(*args)
    assert tree.structure(restored) == tree.structure(compiled) and type(restored[1]) is type(args[1])
    for one, other in zip(tree.leaves(restored), tree.leaves(compiled), strict=True):
        np.testing.assert_array_equal(one, other)


def test_damaged_files_are_dropped(cache: Path) -> None:
    x = np.arange(3.0)
    jit(total)(x)
    for kind in ("objects", "index"):
        (path,) = (cache / kind).rglob("*.bin")
        content = path.read_bytes()
        for damaged in (content[:100], b"", content[:-50] + bytes(50), b"\x80\x04garbage"):
            path.write_bytes(damaged)
            assert jit(total)(x) == 6.0
        assert path.read_bytes() != damaged


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_folders_that_others_may_write_to_are_not_used(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    _told.discard(cache)
    with pytest.warns(RuntimeWarning, match="chmod 700"):
        assert jit(total)(np.arange(3.0)) == 6.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_restored(jit(total), np.arange(3.0))
    assert not list(cache.rglob("*.bin"))


def test_folders_are_trimmed(tmp_path: Path) -> None:
    for k in range(8):
        (tmp_path / f"{k}.bin").write_bytes(b"")
        os.utime(tmp_path / f"{k}.bin", (k, k))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_bytes(b"")
    os.utime(tmp_path / "folder", (0, 0))
    trim(tmp_path, 9)
    assert len(list(tmp_path.iterdir())) == 9
    trim(tmp_path, 8)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{k}.bin" for k in range(2, 8)]


def test_a_full_disk_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(index_module, "write_whole", full)
    monkeypatch.setattr("transformer.run.compiling.objects.write_whole", full)
    assert jit(total)(np.arange(3.0)) == 6.0


SCRIPT = """\
import sys
import numpy as np
from transformer import jit, value_and_grad

def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)

found = jit(value_and_grad(loss))(np.ones(3), np.ones((4, 3)))
of_compiling = {"transformer.read.reader", "transformer.read.kinds", "transformer.transform.reverse.reverse",
                "transformer.lower.lowering"}
print(float(found[0]), found[1].tolist(), not of_compiling.isdisjoint(sys.modules), "scipy.linalg" in sys.modules)
"""


def run(path: Path, cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "TRANSFORMER_CACHE": str(cache)}
    return subprocess.Popen([sys.executable, str(path)], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def test_processes_at_once_and_one_after(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    cold = [process.communicate(timeout=120) for process in [run(path, cache), run(path, cache)]]
    (warm, errors) = run(path, cache).communicate(timeout=120)
    assert not errors and not any(errors for _, errors in cold)
    *number, was_read, was_prepared = warm.split()
    assert (was_read, was_prepared) == ("False", "False")
    assert all(printed.split()[:-2] == number for printed, _ in cold)


def _in_child(compiled: Any, queue: Any) -> None:
    queue.put((compiled(np.arange(3.0)), jit(with_table)(np.arange(2.0))))


@pytest.mark.filterwarnings("ignore:os.fork")                             # of JAX, where an earlier test imports it
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_forks_after_a_compilation() -> None:
    compiled = jit(total)
    compiled(np.arange(3.0))
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(compiled, queue))
    child.start()
    child.join(60)
    assert child.exitcode == 0 and queue.get() == (6.0, 2.0)


@pytest.mark.filterwarnings("ignore:os.fork")                             # of JAX, where an earlier test imports it
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_forks_while_a_thread_compiles() -> None:
    compiled = jit(total)
    compiled(np.arange(3.0))
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with compiled._dispatcher.lock, global_compiler_lock:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(compiled(np.arange(3, dtype="f4"))))
    child.start()
    child.join(60)
    done.set()
    thread.join()
    assert child.exitcode == 0 and queue.get() == 6.0


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.int32])
def test_integers_of_numpy_are_found_quickly(kind: Any) -> None:
    """A call with an integer like one before takes the quick way, and so does one whose value counts."""

    def first_ones(x, n):
        return x[:n] + n

    compiled = jit(first_ones)
    x = np.arange(8.0)
    for n in (3, 5, 3, 12, 5):
        np.testing.assert_array_equal(compiled(x, kind(n)), first_ones(x, kind(n)))
    assert compiled._quick[2](x, kind(5)) is not None
    assert compiled._quick[2](x, 2.5) is None


def test_truth_values_of_numpy_are_found_quickly() -> None:
    compiled = jit(lambda x, up: x + up)
    for up in (np.True_, np.False_, np.True_):
        assert compiled(2, up) == 2 + up
    assert compiled._quick[2](2, np.False_) is compiled._quick[2](2, np.True_) is not None


def test_calls_of_all_kinds_after_quick_ones() -> None:
    """By position and by name, with defaults, of other kinds, and wrong ones."""
    compiled = jit(lambda x, y=2.0: x * y)
    x = np.arange(3.0)
    for _ in range(2):
        for result, factor in ((compiled(x), 2), (compiled(x, 3.0), 3), (compiled(y=4.0, x=x), 4),
                               (compiled(x, y=5.0), 5), (compiled(x, np.float32(6)), 6)):
            np.testing.assert_array_equal(result, factor * x)
    for wrong in (compiled, functools.partial(compiled, x, 1.0, 2), functools.partial(compiled, x, z=1)):
        with pytest.raises(TypeError) as raised:
            wrong()
        assert not isinstance(raised.value.__context__, KeyError)


def test_a_quick_call_is_forgotten_where_the_value_of_an_argument_counts() -> None:
    compiled = jit(lambda x, n: x.reshape(n, -1).sum(axis=0) if n > 1 else x)
    x = np.arange(6.0)
    assert [compiled(x, n).shape for n in (2, 3, 1, 2, 3, 1)] == [(3,), (2,), (6,), (3,), (2,), (6,)]
