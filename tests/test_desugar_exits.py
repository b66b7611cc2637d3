"""Every exit in every place of every loop, and whatever comes together: same result, same steps in the same order."""

import random
import textwrap

import pytest
from desugared import check

# ---- every exit, in every place, in every loop ----

EXITS = ["break", "continue", "return", "return log('value')", "return i"]

PLACES = {
    "alone": "EXIT",
    "last": "log(1)\nEXIT",
    "if": "if ask():\n    EXIT\nlog(1)",
    "if at the end": "log(1)\nif ask():\n    EXIT",
    "after more": "if ask():\n    log(1)\n    EXIT\n    log(2)\nlog(3)",
    "else": "if ask():\n    log(1)\nelse:\n    EXIT\nlog(2)",
    "both": "if ask():\n    log(1)\n    EXIT\nelse:\n    EXIT\nlog(2)",
    "elif": "if ask():\n    log(1)\nelif ask():\n    EXIT\nelse:\n    log(2)\nlog(3)",
    "partial": "if ask():\n    if ask():\n        EXIT\n    log(1)\nlog(2)",
    "partial, nothing follows": "if ask():\n    if ask():\n        EXIT\n    log(1)",
    "partial on both sides": (
        "if ask():\n    if ask():\n        EXIT\n    log(1)\n"
        "else:\n    log(2)\n    if ask():\n        EXIT\nlog(3)\nif ask():\n    EXIT\nlog(4)"
    ),
    "with": "with inside():\n    if ask():\n        EXIT\n    log(1)\nlog(2)",
    "with, always": "with inside():\n    EXIT\nlog(2)",
    "match": (
        "match (ask(), ask()):\n    case (True, True):\n        EXIT\n"
        "    case (True, _):\n        log(1)\nlog(2)"
    ),
    "match, one way through": (
        "match ask():\n    case True:\n        EXIT\n    case _:\n        log(1)\nlog(2)"
    ),
    "match, no default": "match ask():\n    case True:\n        EXIT\nlog(2)",
    "raise beside": "if ask():\n    raise KeyError\nif ask():\n    EXIT\nlog(1)",
}

LOOPS = {
    "for": "for i in range(3):\n    BODY",
    "for, no trips": "for i in range(0):\n    BODY",
    "while": "while ask():\n    BODY",
    "while True": "while True:\n    log('again')\n    BODY\n    if ask():\n        break",
    "while True, no break": "while True:\n    log('again')\n    BODY",
    "while and": "while ask() and ask():\n    BODY",
    "else": "for i in range(2):\n    BODY\nelse:\n    log('else')",
    "while else": "while ask():\n    BODY\nelse:\n    log('else')\n    i = 8",
    "break and else": (
        "for i in range(2):\n    if ask():\n        break\n    BODY\n"
        "else:\n    log('else')\n    if ask():\n        return 'else'"
    ),
    "inner": "for j in range(2):\n    for i in range(2):\n        BODY\n    log('inner done')",
    "inner while": "while ask():\n    while ask():\n        BODY\n    log('inner done')",
    "inner and break": (
        "for j in range(3):\n    for i in range(2):\n        BODY\n"
        "    if ask():\n        break\n    log('inner done')\nelse:\n    log('else')"
    ),
    "break in else of inner": (
        "for j in range(3):\n    for i in range(2):\n        BODY\n"
        "    else:\n        log('else')\n        break\n    log('inner done')"
    ),
    "third": (
        "for k in range(2):\n    for j in range(2):\n        while ask():\n            BODY\n"
        "        log('inner done')\n    if ask():\n        continue\n    log('middle done')"
    ),
}

ENDINGS = ["", "return log('end')", "return i"]


def filled(template: str, word: str, text: str) -> str:
    """The template with the text for the word, at the word's indentation."""
    lines = []
    for line in template.split("\n"):
        indentation = line[: len(line) - len(line.lstrip())]
        lines.append(textwrap.indent(text, indentation) if line.strip() == word else line)
    return "\n".join(lines)


def function_of(body: str) -> str:
    return "def f():\n    i = 7\n" + textwrap.indent(body, "    ")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("exit_", EXITS)
def test_exit_in_loop(exit_: str, loop: str) -> None:
    for number, place in enumerate(PLACES.values()):
        body = filled(LOOPS[loop], "BODY", filled(place, "EXIT", exit_))
        ending = ENDINGS[number % len(ENDINGS)]
        check(function_of(f"{body}\nlog('after')\n{ending}"), count=4)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("exit_", [exit_ for exit_ in EXITS if exit_.startswith("return")])
def test_return_outside_of_loops(exit_: str, place: str) -> None:
    for ending in ENDINGS:
        check(function_of(f"{filled(PLACES[place], 'EXIT', exit_)}\n{ending}"))


TRIES = [
    "try:\n    BODY\nexcept ValueError:\n    log('caught')\nlog('behind')",
    "try:\n    BODY\n    log(5)\nexcept KeyError:\n    i = 4\nelse:\n    log('else')\nfinally:\n    log('finally')",
    "try:\n    BODY\nexcept IndexError:\n    log('no')\nexcept (KeyError, ValueError) as e:\n    return log(str(e))",
    "try:\n    BODY\nexcept KeyError:\n    log('caught')\n    raise",
    "try:\n    try:\n        BODY\n    except KeyError:\n        raise ValueError\nexcept ValueError:\n    log(6)",
]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("exit_", ["raise ValueError", "if ask():\n    raise ValueError(i)\nraise KeyError(i)"])
def test_raise_in_try(exit_: str, loop: str) -> None:
    for number, place in enumerate(PLACES.values()):
        body = filled(LOOPS[loop], "BODY", filled(place, "EXIT", exit_))
        check(function_of(filled(TRIES[number % len(TRIES)], "BODY", body) + "\nlog('after')\nreturn i"), count=4)


# ---- whatever comes together ----


class Program:
    """A random function, from statements that log and ask."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._size = 14
        body = self._block(depth=0, in_loop=False, in_try=False)
        self.text = function_of("\n".join(body))

    def _block(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self._random.randint(1, 4)):
            lines += self._statement(depth, in_loop, in_try)
        return lines

    def _nested(self, head: str, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return [head, *("    " + line for line in self._block(depth + 1, in_loop, in_try))]

    def _statement(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        self._size -= 1
        simple = self._size < 0 or depth > 4 or self._random.random() < 0.3
        kinds = ["log", "i", "return"] if simple else ["if", "if", "for", "while", "with", "match", "try"]
        kinds += ["raise"] if in_try else []
        kinds += ["break", "continue"] if in_loop else []
        return list(getattr(self, "_" + self._random.choice(kinds))(depth, in_loop, in_try))

    def _log(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return [f"log({self._random.randint(10, 99)})"]

    def _i(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return [f"i = {self._random.randint(10, 99)}"]

    def _return(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return [self._random.choice(["return", "return i", "return i", "return log(i)"])]

    def _break(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return ["break"]

    def _continue(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return ["continue"]

    def _if(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        lines = self._nested("if ask():", depth, in_loop, in_try)
        if self._random.random() < 0.4:
            lines += self._nested("else:", depth, in_loop, in_try)
        return lines

    def _for(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        trips = self._random.randint(0, 3)
        return self._loop(f"for i in range({trips}):", depth, in_loop, in_try)

    def _while(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return self._loop(self._random.choice(["while ask():", "while log(True):"]), depth, in_loop, in_try)

    def _loop(self, head: str, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        lines = self._nested(head, depth, True, in_try)
        if self._random.random() < 0.3:
            lines += self._nested("else:", depth, in_loop, in_try)
        return lines

    def _with(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return self._nested("with inside():", depth, in_loop, in_try)

    def _raise(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        return [self._random.choice(["raise ValueError", "raise KeyError(i)", "raise KeyError(i)", "raise IndexError"])]

    def _try(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        lines = self._nested("try:", depth, in_loop, True)
        for head in self._random.sample(["except ValueError:", "except KeyError as error:", "except LookupError:"], 2):
            lines += self._nested(head, depth, in_loop, in_try)
        if self._random.random() < 0.4:
            lines += self._nested("else:", depth, in_loop, in_try)
        return lines + ["finally:", "    log('finally')"] * (self._random.random() < 0.3)

    def _match(self, depth: int, in_loop: bool, in_try: bool) -> list[str]:
        cases = self._nested("case True:", depth + 1, in_loop, in_try)
        if self._random.random() < 0.5:
            last = self._random.choice(["case False:", "case _:", "case i:", "case False | _:"])
            cases += self._nested(last, depth + 1, in_loop, in_try)
        return ["match ask():", *("    " + line for line in cases)]


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        check(Program(seed).text, count=4)
