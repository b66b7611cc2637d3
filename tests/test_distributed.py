"""Several processes under mpiexec: the same numbers as one, and an end that says why if one of them fails."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import FOLDER, blocks, run_block

from transformer import distributed
from transformer.parallel.between import ExchangeBetween
from transformer.parallel.exchange import Exchange
from transformer.parallel.joining import joined

PROGRAM = Path(__file__).parent / "processes_program.py"
BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")
needs_mpi = pytest.mark.skipif(MPIEXEC is None or importlib.util.find_spec("mpi4py") is None,
                               reason="mpi4py or mpiexec is missing: pip install source-transformer[mpi]")


def run(what: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    assert MPIEXEC is not None
    # A shell in between: MPICH's launcher ends a job when a process is killed, whatever it was told.
    program = shlex.join([sys.executable, str(PROGRAM), what, str(folder)])
    return subprocess.run([MPIEXEC, *options, "-n", "2", "sh", "-c", f"{program}; exit $?"],
                          capture_output=True, text=True, timeout=120)


@needs_mpi
def test_numbers_are_those_of_one_process_and_survive_a_kill(tmp_path: Path) -> None:
    """Of two runs, as each takes seconds to start. In the first one a process is killed in the middle of training; the
    launcher is told not to end the others, which find out by themselves. The second one goes on, and comes to the
    same numbers; in the end a process raises something."""
    first = run("first", tmp_path, "-disable-auto-cleanup")
    assert first.stdout.count("exchanged") == 2, first.stdout + first.stderr
    assert first.returncode != 0 and "went on" not in first.stdout
    assert (tmp_path / "told").read_text() == "process 1 has died. Process 0 waited for it at the start of update"

    second = run("second", tmp_path)
    for process in (0, 1):
        assert f"process {process} went on from step 3" in second.stdout, second.stdout + second.stderr
    assert second.stdout.count("raising") == 2, second.stdout + second.stderr
    assert second.returncode != 0 and "not reached" not in second.stdout
    assert "ValueError: -1.0 is negative" in second.stderr
    assert re.search(r"ProcessError: process 1 has failed in checked: ValueError: -1.0 is negative "
                     r"\(in checked_phase\d on cpu:2\). Process 0 waited for it at psum of checked", second.stderr), \
        second.stderr


def test_one_process_has_nothing_to_do() -> None:
    distributed.initialize()
    distributed.initialize()
    assert distributed.is_initialized()
    assert (distributed.process_index(), distributed.process_count()) == (0, 1)
    assert distributed.local_devices() == distributed.devices()
    distributed.barrier()
    distributed.shutdown()
    assert not distributed.is_initialized()


def test_without_mpi4py_several_processes_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    distributed.initialize()
    distributed.shutdown()
    monkeypatch.setenv("PMI_SIZE", "4")
    with pytest.raises(ImportError, match=r"4 processes were started, but mpi4py is missing.*\[mpi\]"):
        distributed.initialize()


def test_every_collective_goes_between_processes() -> None:
    """None is left that would exchange among the devices of one process alone."""
    by_others = {"psum", "pmean", "pmax", "pmin"}                # of `_reduced`
    public = {name for name in vars(Exchange) if not name.startswith("_")} | {"_reduced"}
    assert public - by_others <= set(vars(ExchangeBetween))


def test_sums_of_which_none_rests_on_another_are_one() -> None:
    source = """
a = transformer.psum(x, 'i')
b = transformer.pmean(y, 'i')
c = transformer.psum(b, 'i')
if transformer.psum(c, 'i') > 0:
    x = transformer.pmean(x, 'i')
    y = transformer.pmean(y, 'i')
    x = transformer.pmean(y, 'i')
"""
    assert ast.unparse(ast.Module(joined(ast.parse(source).body), [])) == """
a, b = transformer.sums(('psum', 'pmean'), (x, y))
c = transformer.psum(b, 'i')
if transformer.psum(c, 'i') > 0:
    x, y = transformer.sums(('pmean', 'pmean'), (x, y))
    x = transformer.pmean(y, 'i')
""".strip()


PAGE = blocks((FOLDER / "distributed.md").read_text(), "python") if (FOLDER / "distributed.md").exists() else []


@pytest.mark.parametrize("block", PAGE, ids=range(len(PAGE)))
def test_examples_of_the_page(block: str) -> None:
    """They run in one process, too."""
    run_block(block)
