"""How Core grows from order to order: statements of the first, second and third derivative of the corpus.

Order k + 1 is the pullback of order k, so that each is reverse mode once more.
"""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import table
from transformer.api import Transformed
from transformer.core.errors import TransformError
from transformer.core.grammar import Effect
from transformer.core.walk import all_statements
from transformer.transform.modes import Gradient, Pullback

LARGEST = 12                    # programs listed


def run(rounds: int) -> None:
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    corpus = importlib.import_module("corpus")
    warnings.simplefilter("ignore")
    programs = [p for p in corpus.ALL if p.order >= 2 and not {"results", "expected"} & set(p.tags)]
    found = {program.name: counts for program in programs if (counts := counted(program))}
    rows = [[name, *map(str, counts)] for name, counts in largest(found)]
    table(f"Statements of Core, the largest of {len(found)} programs", ["program", "order 1", "2", "3"], rows)
    ratios = [[f"{k} to {k + 1}", f"{mean([c[k] / c[k - 1] for c in found.values()]):.2f}"] for k in (1, 2)]
    table("Growth per order, geometric mean", ["order", "times"], ratios)


def counted(program: Any) -> list[int]:
    """Statements at orders 1, 2 and 3; none where there is nothing to count."""
    args = program.example(np.random.default_rng(0))
    wrt = program.wrt[0]
    if not isinstance(args[wrt], np.ndarray | float):
        return []
    one = np.ones_like(args[wrt]) if isinstance(args[wrt], np.ndarray) else 1.0
    derivative, counts = Transformed(program.function, Gradient(wrt)), []
    try:
        for _ in range(3):
            counts.append(statements(derivative, args))
            derivative, args = Transformed(derivative, Pullback(wrt)), (*args, one)
    except TransformError:
        return []
    return counts if all(counts) else []


def statements(derivative: Any, args: tuple[Any, ...]) -> int:
    body = derivative._entry(args, {}).generated.function.body
    return sum(not isinstance(stmt, Effect) for stmt in all_statements(body))


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def largest(found: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    return sorted(found.items(), key=lambda item: -item[1][-1])[:LARGEST]
