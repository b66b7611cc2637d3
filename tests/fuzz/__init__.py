"""Random NumPy programs, each checked against NumPy and against differences.

`python -m tests.fuzz --minutes 20` runs on and writes what fails into `tests/corpus/fuzzed.py`;
`tests/test_fuzz.py` runs a few hundred programs with fixed seeds. Read in this order:

- `generate.py`: a program is drawn by hypothesis; `scalars.py`, `arrays.py`, `conditions.py` draw
  expressions of a wanted type and shape, `assignments.py` … `functions.py` draw statements, `patterns.py`
  several that belong together, `renaming.py` those that change the names of arrays;
- `typed.py`, `typed_statements.py`: programs of integers, truth values and floats of several widths, in the same way,
  with `typed_check.py` for what is checked of them;
- `program.py`: a program as source, with its arguments;
- `checks.py`: what is checked of a program, with `reference.py` for differences, `verdicts.py` for what
  comes of it, and NaN in memory that nobody is to look at, yet (`poison.py`) or any more (`dead.py`);
- `reduce.py`: a failing program is made small;
- `campaign.py`: many programs are run and counted, the same ones for a number each time (`alike.py`).
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))          # the other modules of the tests, for `python -m`
