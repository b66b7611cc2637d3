"""`transformer emit`: expressions over transformations, what they become, and what is wrong with them."""

from __future__ import annotations

import linecache
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from importing import imported

import transformer
from transformer.__main__ import ensure_command_line

ensure_command_line()
from transformer_cli.expression import DEEPEST, TRANSFORMATIONS, interpreted  # noqa: E402
from transformer_cli.failures import NotationError  # noqa: E402
from transformer_cli.main import main  # noqa: E402

MODEL = '''
import numpy as np
from transformer import grad, jit


def predict(w, x):
    return np.tanh(x @ w)


def loss(w, x, y):
    """Squared error of one example."""
    return (np.tanh(x @ w) - y) ** 2


def total(w, x, y):
    return np.mean((predict(w, x) - y) ** 2)


def quartic(x, power=4):
    return np.sum(x ** power)


def with_params(params, x):
    return np.sum(x * params["w"] + params["b"])


def chosen(x, which):
    return [np.sin, np.cos][which](x)


@jit
def compiled(x):
    return np.sum(x * x)


slope = grad(loss)


def example():
    rng = np.random.default_rng(0)
    return rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5)


def direction():
    return *example(), np.ones((4, 3))


def unsupported(x):
    try:
        x = x * 2
    finally:
        return np.sum(x)


class Models:
    @staticmethod
    def square(x):
        return np.sum(x ** 2)
'''
TYPES = "w: f64[d], x: f64[k,d], y: f64[k]"
EXAMPLES = "w: f64[d], x: f64[n,d], y: f64[n]"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def emitted(expression: str, *options: str) -> Any:
    """The module that a command writes, which is standalone."""
    assert main(["emit", expression, "model.py", *options, "-o", "out.py"]) == 0
    imports = set(re.findall(r"^(?:import|from) (\w+)", Path("out.py").read_text(), re.M))
    assert imports <= {"math", "numpy", "numba"}
    return imported("out.py")


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that fails says; it prints nothing else and writes nothing."""
    before = set(os.listdir())
    assert main(["emit", *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "Traceback" not in err
    assert set(os.listdir()) - {"__pycache__"} == before - {"__pycache__"}
    return err


def marked(error: str) -> list[str]:
    """The pieces above carets."""
    lines = error.splitlines()
    found = []
    for line, carets in zip(lines, lines[1:]):
        if re.fullmatch(r" *\^+", carets):
            found.append(line[carets.index("^"):len(carets)])
    return found


# What is written


@pytest.mark.parametrize("expression", [
    "vmap(grad(loss), in_axes=(None, 0, 0))",
    "jit(vmap(grad(loss, argnums=0), in_axes=(None, 0, 0)))",
    "vmap(in_axes=[None, 0, 0])(grad(argnums='w')(loss))",
])
def test_gradients_of_many_examples(expression: str) -> None:
    out = emitted(expression, "--types", TYPES, "--name", "per_sample")
    model = imported("model.py")
    w, x, y = model.example()
    each = [transformer.grad(model.loss)(w, *pair) for pair in zip(x, y)]
    np.testing.assert_allclose(out.per_sample(w, x, y), each, rtol=1e-12)
    for wrong in ((w, x, y[:3]), (w[:2], x, y), (w, x[0], y)):
        with pytest.raises(ValueError, match="must|mismatch"):
            out.per_sample(*wrong)


def test_compiled_or_not_by_the_outermost() -> None:
    emitted("jit(grad(total))", "--types", EXAMPLES)
    assert "@njit" in Path("out.py").read_text()
    emitted("grad(jit(total))", "--types", EXAMPLES, "--force")
    assert "numba" not in Path("out.py").read_text()
    emitted("compiled", "--types", "x: f64[n]", "--force")
    assert "@njit" in Path("out.py").read_text()


def test_what_the_file_has_transformed_itself() -> None:
    out = emitted("vmap(slope, in_axes=(None, 0, 0))", "--types", TYPES)
    assert out.loss_grad_vmap(np.ones(3), np.ones((5, 3)), np.ones(5)).shape == (5, 3)


def test_types_from_an_example() -> None:
    out = emitted("hessian(total)", "--example", "example")
    model = imported("model.py")
    args = model.example()
    np.testing.assert_allclose(out.total_jacrev_jacfwd(*args), transformer.hessian(model.total)(*args), rtol=1e-12)


def test_tangents_and_cotangents() -> None:
    model = imported("model.py")
    w, x, y = model.example()
    value, tangent = emitted("jvp(total, argnums=(0, 2))", "--types", EXAMPLES).total_jvp(w, x, y, w, y)
    wanted = transformer.jvp(model.total, (w, x, y), (w, None, y))
    np.testing.assert_allclose((value, tangent), wanted, rtol=1e-12)
    pulled = emitted("vjp(predict)", "--types", "w: f64[d], x: f64[n,d]", "--force").predict_vjp(w, x, y)
    np.testing.assert_allclose(pulled, transformer.vjp(model.predict, w, x)[1](y)[0], rtol=1e-12)


def test_what_transformations_add_is_mapped_too(capsys: pytest.CaptureFixture[str]) -> None:
    expression = "vmap(hvp(total), in_axes=(None, None, None, 0))"
    model = imported("model.py")
    *args, directions = model.direction()
    wanted = directions @ transformer.hessian(model.total)(*args)
    for given in (["--types", f"{EXAMPLES}, w_dot: f64[k,d]"], ["--example", "direction"]):
        out = emitted(expression, *given, "--force")
        np.testing.assert_allclose(out.total_hvp_vmap(*args, directions), wanted, rtol=1e-10)
    os.remove("out.py")
    assert "w_dot is mapped but has no type; pass" in refused(capsys, expression, "model.py", "--types", EXAMPLES)


def test_axes_of_containers() -> None:
    out = emitted("vmap(jacrev(with_params), in_axes=({'w': 0, 'b': None}, -1))", "--types",
                  "params: {w: f64[k,n], b: f64[n]}, x: f64[n,k]")
    found = out.with_params_jacrev_vmap({"w": np.ones((4, 3)), "b": np.ones(3)}, np.ones((3, 4)))
    assert found["w"].shape == found["b"].shape == (4, 3)


def test_any_leading_axes() -> None:
    out = emitted("vectorize(predict, signature='(d),(n,d)->(n)')", "--types", "w: f64[k,1,d], x: f64[n,d]")
    w, x = np.random.default_rng(0).normal(size=(2, 1, 3)), np.random.default_rng(1).normal(size=(4, 3))
    np.testing.assert_allclose(out.predict_vectorize(w, x), np.tanh(w @ x.T), rtol=1e-12)
    with pytest.raises(ValueError, match="must"):
        out.predict_vectorize(np.ones((2, 2, 3)), x)


def test_pullbacks_over_leading_axes(capsys: pytest.CaptureFixture[str]) -> None:
    expression, types = "vectorize(vjp(predict), signature='(d),(n,d),(n)->(d)')", "w: f64[d], x: f64[k,n,d]"
    model = imported("model.py")
    w, x, dy = np.ones(3), np.random.default_rng(0).normal(size=(2, 5, 3)), np.arange(10.0).reshape(2, 5)
    out = emitted(expression, "--types", f"{types}, dy: f64[k,n]")
    wanted = [transformer.vjp(model.predict, w, one)[1](other)[0] for one, other in zip(x, dy)]
    np.testing.assert_allclose(out.predict_vjp_vectorize(w, x, dy), wanted, rtol=1e-12)
    os.remove("out.py")
    assert "dy is mapped but has no type" in refused(capsys, expression, "model.py", "--types", types)


def test_functions_inside_of_classes_and_checkpoints() -> None:
    np.testing.assert_allclose(emitted("vmap(grad(Models.square))", "--types", "x: f64[k,n]").square_grad_vmap(
        np.ones((2, 3))), 2 * np.ones((2, 3)))
    out = emitted("vmap(grad(checkpoint(quartic)))", "--types", "x: f64[k,n]", "--force")
    np.testing.assert_allclose(out.quartic_grad_vmap(np.ones((2, 3))), 4 * np.ones((2, 3)))


@pytest.mark.parametrize(("expression", "types", "words"), [
    ("vmap(grad(loss), in_axes=(None, 0, -1))", TYPES, "Batched form (axis 0 of x, axis -1 of y) of the gradient with "
     "respect to w of `loss`"),
    ("vmap(quartic, out_axes=0, axis_size=3)", "x: f64[k,n]", "Batched form (3 lanes) of `quartic`"),
    ("vmap(vjp(predict), in_axes=(None, 0, 1), out_axes=1)", "w: f64[d], x: f64[k,n,d], dy: f64[n,k]",
     "Batched form (axis 0 of x, axis 1 of dy; lanes along axis 1 of the result) of the pullback with respect to w"),
    ("jacfwd(predict, argnums=(0, 1))", "w: f64[d], x: f64[n,d]", "Jacobian by forward mode with respect to w and x"),
    ("hessian(total)", EXAMPLES, "Hessian with respect to w of `total`"),
    ("hvp(total)", EXAMPLES, "Product of the Hessian with a vector with respect to w of `total`"),
    ("total", EXAMPLES, "Simplified form of `total`"),
    ("jit(total)", EXAMPLES, "Compiled form of `total`"),
])
def test_the_first_line_says_what_it_is(expression: str, types: str, words: str,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--types", types]
    assert main(["emit", expression, "model.py", *options]) == 0
    assert words in " ".join(capsys.readouterr().out.split('"""')[1].split())


# What is wrong with an expression


@pytest.mark.parametrize(("expression", "message", "piece"), [
    ("vmap(grad(lss))", "there is no function lss in model.py; did you mean loss?", "lss"),
    ("vmap(gard(loss))", "gard is no transformation; did you mean grad?", "gard"),
    ("grad(loss, argnum=1)", "grad has no argument argnum; did you mean argnums?", "argnum=1"),
    ("jit(loss, donate='w')", "jit has no argument donate; it takes a function alone", "donate='w'"),
    ("vmap(grad(loss, argnums=1.5))", "5, which is not the position or name", "grad(loss, argnums=1.5)"),
    ("vmap(grad(loss), in_axes=(0, 0)", "'(' was never closed", "("),
    ("vmap(grad(loss)))", "unmatched ')'", ")"),
    ("vmap(loss, in_axes=open('x'))", "expected a literal", "open('x')"),
    ("vmap(loss, in_axes={**x})", "expected a literal", "{**x}"),
    ("vmap(loss, in_axes=-'a')", "expected a literal", "-'a'"),
    ("vmap(loss, **{'in_axes': 0})", "arguments are written one by one", "{'in_axes': 0}"),
    ("vmap(*loss)", "arguments are written one by one", "*loss"),
    ("grad(lambda x: x)", "expected a function of the file", "lambda x: x"),
    ("grad(__import__('os').system)", "expected a function of the file", "__import__('os').system"),
    ("grad(__import__('os'))", "__import__ is no transformation", "__import__"),
    ("(grad)(loss)(1.0)", "this is applied to one function here", "(grad)(loss)(1.0)"),
    ("grad", "grad of what? Write grad(FUNC)", "grad"),
    ("jit", "jit of what? Write jit(FUNC)", "jit"),
    ("vmap(grad(argnums=0))", "grad of what?", "grad(argnums=0)"),
    ("grad(Models)", "Models in model.py is a class, not a function", "Models"),
    ("grad(Models.cube)", "there is no function cube in model.py.Models", "Models.cube"),
    ("grad(loss, 0, argnums=0)", "multiple values", "grad(loss, 0, argnums=0)"),
    ("vectorize(loss, signature='(n')", "is not a valid signature", "vectorize(loss, signature='(n')"),
    ("vmap(größe, in_axes=(größe))", "expected a literal", "größe"),
    ("1 + 1", "expected a function of the file", "1 + 1"),
])
def test_mistakes_are_shown_in_the_expression(expression: str, message: str, piece: str,
                                              capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(capsys, expression, "model.py", "-o", "out.py")
    assert error.startswith("transformer: error: the expression: ")
    assert message in error
    assert marked(error) == [piece]


@pytest.mark.parametrize("expression", ["", "  ", "grad(\0)", "(" * 300 + ")" * 300, "grad(" * 50 + "loss" + ")" * 50])
def test_what_is_no_expression(expression: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "the expression: " in refused(capsys, expression, "model.py")


@pytest.mark.parametrize(("expression", "types", "message", "pieces"), [
    ("jit(vmap(grad(loss), in_axes=(None, 0)))", TYPES, "in_axes has 2 entries for 3 arguments",
     ["loss", "vmap(grad(loss), in_axes=(None, 0))"]),
    ("vmap(grad(predict), in_axes=(None, 0))", "w: f64[d], x: f64[k,n,d]", "grad needs a function that returns one",
     ["np.tanh(x @ w)", "grad(predict)"]),
    ("jit(vmap(grad(loss), in_axes=(None, 0, 0)))", "w: f64[3], x: f64[4,3], y: f64[5]",
     "vmap maps x over 4 lanes and y over 5", ["y", "vmap(grad(loss), in_axes=(None, 0, 0))"]),
    ("vmap(chosen)", "x: f64[k,n], which: i64[k]", "which must be known when the function is transformed, but vmap",
     ["which", "vmap(chosen)"]),
    ("hessian(with_params, argnums=3)", "params: {w: f64[n], b: f64[n]}, x: f64[n]", "has no argument 3",
     ["with_params", "hessian(with_params, argnums=3)"]),
])
def test_mistakes_of_transformations_are_shown_in_both(expression: str, types: str, message: str, pieces: list[str],
                                                       capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(capsys, expression, "model.py", "--types", types, "-o", "out.py")
    assert message in error
    assert 'File "model.py", line' in error
    assert marked(error) == pieces


def test_lines_are_shown_of_the_file_here(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "model.py").write_text("another = 1\n" * 80)
    monkeypatch.chdir(elsewhere)
    linecache.checkcache()
    assert linecache.getline("model.py", 1) == "another = 1\n"
    monkeypatch.chdir(folder)
    error = refused(capsys, "grad(loss, argnums=7)", "model.py", "--types", TYPES)
    assert "another" not in error
    assert marked(error) == ["loss", "grad(loss, argnums=7)"]


def test_mistakes_of_the_function_are_shown_there(capsys: pytest.CaptureFixture[str]) -> None:
    error = refused(capsys, "vmap(grad(unsupported))", "model.py", "--types", "x: f64[k,n]", "-o", "out.py")
    assert 'File "model.py", line' in error
    assert "in the expression" not in error


def test_other_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file mdel.py; did you mean model.py?" in refused(capsys, "grad(loss)", "mdel.py")
    assert "write 'grad(loss)' model.py" in refused(capsys, "model.py", "grad(loss)")
    assert "has no type and is taken as f64" in refused(capsys, "vmap(loss, in_axes=(None, 0, 0))", "model.py",
                                                         "--types", "w: f64[d], x: f64[k,d]")
    assert "the function has no argument z" in refused(capsys, "grad(loss)", "model.py", "--types", "z: f64")
    for name in ("2x", "class", "np", "len"):
        assert "--name" in refused(capsys, "grad(total)", "model.py", "--types", EXAMPLES, "--name", name)
    Path("out.py").write_text("kept")
    assert "out.py exists" in refused(capsys, "grad(total)", "model.py", "--types", EXAMPLES, "-o", "out.py")
    assert "choose another name" in refused(capsys, "grad(total)", "model.py", "--force", "-o", "model.py")
    assert Path("out.py").read_text() == "kept"
    assert Path("model.py").read_text() == MODEL


# The language itself


def test_literals_and_partial_transformations() -> None:
    model = imported("model.py")
    found = interpreted("  vmap((None, [1, -2], {'a': +1, 2: True}), axis_name='i')(loss)\n".replace(
        "vmap((", "vmap(in_axes=("), Path("model.py"), model)
    assert found.whole.mode.in_axes == (None, [1, -2], {"a": 1, 2: True})
    assert found.whole.mode.axis_name == "i"
    assert found.whole.function is model.loss


def test_expressions_over_several_lines() -> None:
    with pytest.raises(NotationError, match="gradd is no transformation") as caught:
        interpreted("vmap(\n    gradd(loss),\n    in_axes=0)", Path("model.py"), imported("model.py"))
    assert marked(str(caught.value)) == ["gradd"]


def test_all_transformations_compose() -> None:
    model = imported("model.py")
    keywords = {"vectorize": ", signature='(n)->()'"}
    for name in TRANSFORMATIONS:
        text = f"jit({name}(quartic{keywords.get(name, '')}))"
        assert interpreted(text, Path("model.py"), model).is_compiled
    deep = "grad(" * DEEPEST + "quartic" + ")" * DEEPEST
    assert len(interpreted(deep, Path("model.py"), model).steps) == DEEPEST
