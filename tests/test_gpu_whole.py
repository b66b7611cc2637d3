"""Repeated calls as graphs, with stand-ins for CuPy that note what is asked of a stream while it is noted."""

from __future__ import annotations

import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from gpu_standins import CUDA, OnGpu, Stream, copied_at_once

from transformer.run.gpu import copies as gpu_copies
from transformer.run.gpu import products as gpu_products
from transformer.run.gpu import whole as gpu_whole
from transformer.run.gpu.streams import OF_THREAD
from transformer.run.gpu.whole import AFTER, MOST_TWINS, Whole, item_of
from transformer.settings import config


class Program:
    """What a driver does: `runs` counts how often the host does it."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, params: tuple[OnGpu, OnGpu], x: OnGpu, rate: float) -> Any:
        self.runs += 1
        total, new, cell = (OnGpu(np.full(3, np.nan)) for _ in range(3))
        first, second = params
        CUDA.asked(lambda: total.hidden.__setitem__(slice(None), first.hidden * x.hidden))
        CUDA.asked(lambda: cell.hidden.__setitem__(0, np.max(x.hidden) > 100))
        if item_of(cell):
            raise ValueError("too large")
        CUDA.asked(lambda: new.hidden.__setitem__(slice(None), second.hidden - rate * total.hidden))
        return {"total": total, "new": (new, x), "rate": rate}


@pytest.fixture(autouse=True)
def _memory(a_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_whole, "memory", lambda: 100_000)
    monkeypatch.setattr(gpu_whole, "_kept", weakref.WeakSet())
    monkeypatch.setattr(gpu_copies, "form_of", copied_at_once)


def drawn(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return (OnGpu(rng.normal(size=3)), OnGpu(rng.normal(size=3))), OnGpu(rng.normal(size=3))


def check(result: Any, params: Any, x: Any, rate: float) -> None:
    np.testing.assert_array_equal(result["total"].hidden, params[0].hidden * x.hidden)
    np.testing.assert_array_equal(result["new"][0].hidden, params[1].hidden - rate * (params[0].hidden * x.hidden))
    assert result["new"][1] is x and result["rate"] == rate


def test_later_calls_are_launched() -> None:
    program = Program()
    whole = Whole(program, 4)
    for k in range(8):
        params, x = drawn(k)
        check(whole(params, x, 0.5), params, x, 0.5)
    assert program.runs == AFTER - 1 + 2


def test_results_that_somebody_holds_stay() -> None:
    whole, held = Whole(Program(), 4), []
    for k in range(AFTER + MOST_TWINS + 2):
        params, x = drawn(k)
        held.append((whole(params, x, 0.5), params, x))
        for result, own, given in held:
            check(result, own, given, 0.5)


def test_parameters_take_turns() -> None:
    program = Program()
    whole, (params, x) = Whole(program, 4), drawn(0)
    wanted = [each.hidden.copy() for each in params]
    for _ in range(12):
        result = whole(params, x, 0.25)
        params = result["total"], result["new"][0]
        wanted = [wanted[0] * x.hidden, wanted[1] - 0.25 * (wanted[0] * x.hidden)]
        del result
        for one, other in zip(params, wanted):
            np.testing.assert_array_equal(one.hidden, other)
    assert program.runs == AFTER - 1 + 2 * 2


def test_numbers_are_part_of_what_is_noted() -> None:
    whole, (params, x) = Whole(Program(), 4), drawn(0)
    for rate in [0.5] * 5 + [-0.0, 0.0] * 5 + [1 / k for k in range(1, 30)]:
        check(whole(params, x, rate), params, x, rate)


def test_a_number_of_the_device_that_changes_runs_the_driver() -> None:
    whole, (params, x) = Whole(Program(), 4), drawn(0)
    for k in range(9):
        large = OnGpu(np.array([1.0, 200.0, 3.0]))
        if k > 1:
            with pytest.raises(ValueError, match="too large"):
                whole(params, large, 0.5)
        check(whole(params, x, 0.5), params, x, 0.5)


def test_arrays_that_do_not_lie_side_by_side_are_copied() -> None:
    program = Program()
    whole, (params, _) = Whole(program, 4), drawn(0)
    for k in range(6):
        x = OnGpu(np.arange(k, k + 6.0)[::2])
        check(whole(params, x, 0.5), params, x, 0.5)
    assert program.runs == AFTER - 1 + 2


@pytest.mark.parametrize("count, share", [(0, 0.5), (4, 0.0), (4, 0.001)])
def test_what_is_too_large_is_not_noted(count: int, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "graph_share", share)
    program = Program()
    whole, (params, x) = Whole(program, count), drawn(0)
    for _ in range(7):
        check(whole(params, x, 0.5), params, x, 0.5)
    assert not whole.graphs and program.runs in (7, 9)


def test_all_graphs_count() -> None:
    """Each function keeps less than there is for graphs, and all of them no more."""
    programs = [Program() for _ in range(30)]
    wholes, (params, x) = [Whole(program, 4) for program in programs], drawn(0)
    for whole in wholes:
        for _ in range(AFTER):
            check(whole(params, x, 0.5), params, x, 0.5)
    assert sum(len(whole.graphs) for whole in wholes) == 9


def test_streams_have_graphs_of_their_own() -> None:
    """What is done with a result in one stream another one does not wait for."""
    whole, (params, x) = Whole(Program(), 4), drawn(0)
    for stream in [Stream(non_blocking=True) for _ in range(AFTER)]:
        check(whole(params, x, 0.5), params, x, 0.5)
        with stream:
            check(whole(params, x, 0.5), params, x, 0.5)
    assert len(whole.graphs) == 1
    with stream:
        for _ in range(AFTER):
            check(whole(params, x, 0.5), params, x, 0.5)
    first, second = whole.graphs.values()
    assert first[0].pool is not second[0].pool


def test_a_stream_with_graphs_does_not_end() -> None:
    """Another one could have its handle, and not wait for what it was asked."""
    whole, (params, x), stream = Whole(Program(), 4), drawn(0), Stream(non_blocking=True)
    for _ in range(AFTER):
        with stream:
            check(whole(params, x, 0.5), params, x, 0.5)
    is_kept = weakref.ref(stream)
    del stream
    assert is_kept() is not None
    whole.graphs.clear()
    assert is_kept() is None


def test_threads_have_graphs_of_their_own_in_their_default_streams() -> None:
    """Which have one handle."""
    whole, (params, x) = Whole(Program(), 4), drawn(0)

    def called() -> None:
        with Stream(OF_THREAD):
            for _ in range(AFTER):
                check(whole(params, x, 0.5), params, x, 0.5)

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        one.submit(called).result()
        other.submit(called).result()
    first, second = whole.graphs.values()
    assert first[0].pool is not second[0].pool


def test_a_result_may_get_another_shape() -> None:
    """It is the caller's, and its memory that of the graph."""
    whole, (params, x) = Whole(Program(), 4), drawn(0)
    for _ in range(AFTER + 2):
        result = whole(params, x, 0.5)
        check(result, params, x, 0.5)
        result["total"].hidden = result["total"].hidden.reshape(3, 1)
        del result


def test_cublas_of_a_graph_is_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a stream has the handle of one that is gone, what that one worked with is left alone."""
    used: list[Any] = []

    def multiplied(*args: Any) -> Any:
        key = CUDA.get_device_id(), CUDA.get_current_stream().ptr
        used.append(gpu_products._handles.setdefault(key, object()))
        return Program()(*args)

    whole, (params, x) = Whole(multiplied, 4), drawn(0)
    monkeypatch.setattr(gpu_products, "_handles", {(0, 100 * k): "of a stream that is gone" for k in range(1, 9)})
    for _ in range(AFTER):
        check(whole(params, x, 0.5), params, x, 0.5)
    noted, = whole.graphs.popitem()[1]
    assert type(noted.products) is object and noted.products is used[-1]
    assert (0, noted.stream.ptr) not in gpu_products._handles


def test_what_cannot_be_noted_ends_what_was_noted() -> None:
    streams: list[Stream] = []

    def waits(x: OnGpu) -> OnGpu:
        stream = CUDA.get_current_stream()
        if stream.is_capturing():
            stream.is_invalid = True
            streams.append(stream)
            raise RuntimeError("an operation is not permitted when a stream is capturing")
        return x.copy()

    whole, x = Whole(waits, 4), OnGpu(np.arange(3.0))
    for _ in range(AFTER + 2):
        np.testing.assert_array_equal(whole(x).hidden, x.hidden)
    stream, = streams                            # it is tried once
    assert not stream.is_capturing() and len(CUDA.current) == 1 and not whole.graphs


def test_views_of_a_result_that_is_a_view_keep_its_memory() -> None:
    """A driver gives numbers as views without axes; those that are taken of these begin where they do."""
    def doubled(x: OnGpu) -> OnGpu:
        cell = OnGpu(np.full(1, np.nan))
        CUDA.asked(lambda: cell.hidden.__setitem__(0, 2 * x.hidden[0]))
        return cell.reshape(())

    whole = Whole(doubled, 4)
    held = [whole(OnGpu(np.array([float(k)]))).reshape(1) for k in range(AFTER + MOST_TWINS + 2)]
    assert [float(each.hidden[0]) for each in held] == [2.0 * k for k in range(len(held))]


def test_numbers_of_the_device_have_signs_and_may_be_nan() -> None:
    def first(x: OnGpu) -> float:
        cell = OnGpu(np.full(1, np.nan))
        CUDA.asked(lambda: cell.hidden.__setitem__(0, x.hidden[0]))
        return item_of(OnGpu(cell.hidden))

    whole = Whole(first, 4)
    for number in [0.0] * AFTER + [-0.0, 0.0, np.nan, -0.0]:
        assert repr(whole(OnGpu(np.array([number])))) == repr(number)


def test_where_memory_is_short_the_driver_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: OnGpu) -> OnGpu:
        raise MemoryError("no memory for a copy")

    monkeypatch.setattr(OnGpu, "copy", refused, raising=False)
    whole, (params, x) = Whole(Program(), 4), drawn(0)
    for _ in range(AFTER + 1):
        check(whole(params, x, 0.5), params, x, 0.5)
