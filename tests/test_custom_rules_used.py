"""Rules of users in emitted files, in the examples of their page, and as `transformer` exports them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.special as sp
from doc_blocks import FOLDER, blocks, run_block

import transformer
from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli.main import main  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_registry")

MODEL = '''
import numpy as np
import scipy.special as sp
from transformer import custom_vjp, define_op
import tools

define_op(sp.spence, partials=lambda t, x, y: t * np.log(x) / (1 - x), override=True)
define_op(tools.doubled, types="like x", linear="x", vjp=lambda dy, x: tools.doubled(dy))


@custom_vjp
def clip_gradient(x, bound):
    return x


clip_gradient.defvjp(lambda x, bound: (x, bound), lambda bound, dy: (np.clip(dy, -bound, bound), None))


def loss(x: "f64[n]"):
    return np.sum(clip_gradient(sp.spence(x), 0.1) * tools.doubled(x))
'''


def test_emitted_files_stand_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "tools.py").write_text("def doubled(x):\n    return x + x\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "loss_grad.py"
    assert main(["grad", "model.py:loss", "--wrt", "x", "-o", str(out)]) == 0
    source = out.read_text()
    assert "import tools\n" in source and "np.clip(" in source and "transformer import" not in source
    code = ("import numpy as np; from loss_grad import loss_grad; import sys; assert 'transformer' not in sys.modules;"
            "print(loss_grad(np.array([0.5, 2.0])).tolist())")
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    x = np.array([0.5, 2.0])
    wanted = np.clip(2 * x, -0.1, 0.1) * np.log(x) / (1 - x) + 2 * sp.spence(x)
    np.testing.assert_allclose(eval(found.stdout), wanted)


PAGE = (FOLDER / "custom_rules.md").read_text()


@pytest.mark.parametrize("source", blocks(PAGE, "python"), ids=range(len(blocks(PAGE, "python"))))
def test_the_page_runs(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_block(source, f"page_{hash(source)}.py")
    printed = capsys.readouterr().out.strip()
    assert not printed or printed in PAGE


def test_names_are_exported_lazily() -> None:
    assert {"custom_jvp", "custom_vjp", "define_op", "check_op"} <= set(transformer.__all__)
    code = "import sys, transformer; raise SystemExit('transformer.custom' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
