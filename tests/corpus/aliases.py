"""Arrays that keep an older name when something goes on from them: sometimes, in a branch, through a call."""

from collections import deque

import numpy as np

from .program import Program, apart, normal


def keep_sometimes(x):
    a = x * 1.0
    b = x * 0.0
    for k in range(5):
        t = a * 1.5 + k
        if k % 3 == 0:
            b = t
        a = t
    return np.sum(a * b)


def best_so_far(x):
    a = x * 1.0
    best = x * 0.0
    top = -1e9
    for k in range(6):
        a = np.cos(a) * (k + 1)
        s = np.sum(a)
        if s > top:
            best = a
            top = s
    return np.sum(best * x) + top


def keep_then_write(x):
    a = x * 1.0
    b = x * 0.0
    for k in range(5):
        a = a * 1.1
        if k == 2:
            b = a.copy()
        a[k % 3] += 1.0
    return np.sum(a * b)


def same_or_twice(z, n):
    if n > 2:
        return z * 2
    if n == 0:
        return z
    return same_or_twice(z, n - 1)


def returned_argument(x):
    z = x * 2.0
    y = same_or_twice(z, 1)
    w = z.copy()
    w[0] = 100.0
    return np.sum(y * w)


def returned_argument_in_loop(x):
    z = x * 2.0
    t = 0.0
    for k in range(3):
        y = same_or_twice(z, 2)
        z = z * 1.5 + k
        t = t + np.sum(y * z)
    return t


def previous_two(x):
    a = x * 1.0
    b = x * 2.0
    c = x * 3.0
    for k in range(5):
        n = a * 0.5 + b
        if k % 2:
            c = b
        a, b = b, n
    return np.sum(a * b * c)


def alias_in_branch(x, s):
    a = x * 2.0
    if s > 0:
        b = a
    else:
        b = x * 3.0
    a = a + 1.0
    return np.sum(a * b)


def alias_in_outer_loop(x):
    a = x * 1.0
    total = 0.0
    for _ in range(3):
        b = a
        for k in range(2):
            b = b * 1.2 + k
        total = total + np.sum(a * b)
        a = a + 1.0
    return total


def kept_matrix(a):
    b = a * 1.0
    kept = a * 0.0
    for i in range(4):
        b = b * 0.9 + a.T
        if i == 1:
            kept = b
    return np.sum(b * kept)


def kept_when_it_ends(x):
    a = x * 1.0
    out = x * 0.0
    for _ in range(10):
        a = a * 1.3 + 0.1
        if np.sum(a) > 20:
            out = a
            break
    a = a - 1.0
    return np.sum(out * a)


def kept_in_while(x):
    a = x * 1.0
    last = a
    n = 0
    while n < 6:
        a = np.sin(a) + n
        if n == 3:
            last = a
        n += 1
    return np.sum(a * last)


def rolled_back(x):
    """A step is taken back where it does not help."""
    a = x * 1.0
    cost = np.sum(a * a)
    step = 0.9
    for _ in range(6):
        trial = a - step * np.cos(a)
        new = np.sum(trial * trial)
        if new < cost:
            a = trial
            cost = new
        else:
            step = step * 0.5
    return cost + np.sum(a)


def list_repeated_under_two_names(x, n):
    rows = [x[0], x[1] * x[2]]
    same = rows
    rows *= n
    rows += [x[0] ** 2]
    return sum(same) * len(same)


def list_becomes_an_array(x):
    """NumPy decides what its arrays and numbers make of a list: a new array, which the list knows nothing of."""
    rows = [x[0], x[1]]
    same = rows
    rows += x[:2] * x[1:3]
    rows *= np.sin(x[2])
    others = [x[0], x[1]]
    others += x[2]
    return np.sum(rows**2) + sum(same) * len(same) + np.sum(others**3)


def recorded_list_becomes_an_array(x):
    squares = []
    for a in x:
        squares.append(a * a)
    same = squares
    squares += x
    return np.sum(squares**2) + len(same) * same[0]


def part_of_a_list_repeated(x):
    rows = [x[0], x[1], x[2]]
    rows[1:] *= 2
    rows[0:1] += [x[1] * 3, x[2]]
    return sum(rows) * len(rows) + rows[0] * rows[1]


def dictionary_under_two_names(x):
    params = {"w": x[0]}
    same = params
    params |= {"b": x[1], "w": x[2] ** 2}
    return same["w"] * same["b"]


def sets_under_two_names(x):
    chosen, dropped, kept, odd = {0, 1}, {0, 1}, {0, 1}, {0, 1}
    names = chosen, dropped, kept, odd
    chosen |= {2}
    dropped -= {0}
    kept &= {0}
    odd ^= {1, 2}
    return sum(x[i] * (k + 1) ** 2 for k, each in enumerate(names) for i in sorted(each)) ** 2


def shapes_of_a_vector(x):
    """What arithmetic gives lies in one piece, whatever the steps of its operands."""
    y = x[::-1] * 2
    m = y.reshape(2, 3)
    m[1] += m[0]
    r = m.ravel()
    r[::2] *= y[1::2]
    y[0] += m[1, 2]
    return np.sum(m**2) + y[0] * r[5]


def queue_repeated(x):
    newest = deque([x[0], x[1]], maxlen=3)
    same = newest
    newest *= 2
    return same[0] ** 2 + same[1] * same[2]


def numbers_of_an_array_that_changes(x):
    """`y.reshape(())` is a view: what was computed with its old value needs that later."""
    y = x[:1] * 2.0
    a = y.reshape(())
    s = np.sin(a) * a
    y[0] = x[1]
    z = x[2:3] * x[1]
    b = np.squeeze(z)
    t = np.exp(b) * b
    z *= x[0]
    return s * y[0] + t * z[0] + a


def written_in_branches(x, y):
    a = x * 1.0
    kept = x * 0.0
    for i in range(len(y)):
        if y[i] > 0.5:
            a[i] += kept[i - 1] + 1.0
        elif y[i] < -0.5:
            kept = a.copy()
        else:
            a[i - 1] *= 2.0
        if y[i] > 0:
            kept[i] = a[i - 1] * y[i]
    return np.sum(np.sin(a) * kept)


def copied_or_shared(x, y):
    a = x * 1.0
    c = a
    total = 0.0
    for i in range(len(y)):
        if y[i] > 0:
            c = a.copy()
            c[i] = y[i]
        else:
            c = a
        a = a * 0.5 + np.sum(c) * 0.01
        total = total + np.sum(c * a)
    return total


def older_in_the_other_branch(x, y):
    a = x * 1.0
    for i in range(len(y)):
        b = a
        if y[i] > 0:
            b = b.copy()
            b[i] += 1.0
        a = b if y[i] > 0.5 else a + 0.1 * b
    return np.sum(np.sin(a))


def copies_of_one_array(x):
    """Two of them are written, and two are not."""
    kept, total = x.copy(), 0.0
    for k in range(3):
        written, read = x.copy(), x.copy()
        written[k] *= 2
        total += np.sum(written * read * kept)
    kept_too, changed = x.copy(), x.copy()
    changed[0] = 3.0
    return total + np.sum(changed * kept_too * x)


def copies_between_writes(x):
    current, rows = x * 1.0, []
    for k in range(3):
        before = current.copy()
        current[k] = current[k] ** 2
        rows.append(before * current.copy() * current.copy())
    return np.sum(np.stack(rows) * current)


PROGRAMS = [
    Program(shapes_of_a_vector, normal((6,))),
    Program(numbers_of_an_array_that_changes, normal((4,))),
    Program(list_repeated_under_two_names, normal((3,), then=(2,))),
    Program(list_repeated_under_two_names, normal((3,), then=(np.int64(3),)), name="list_repeated_by_numpys_integer"),
    Program(list_repeated_under_two_names, normal((3,), then=(0,)), name="list_repeated_no_times"),
    *(Program(f, normal((4,))) for f in (
        list_becomes_an_array, recorded_list_becomes_an_array, part_of_a_list_repeated, dictionary_under_two_names,
        sets_under_two_names, queue_repeated, copies_of_one_array, copies_between_writes)),
    *(Program(f, normal((7,))) for f in (
        keep_sometimes, best_so_far, keep_then_write, returned_argument, returned_argument_in_loop, previous_two,
        alias_in_outer_loop, kept_when_it_ends, kept_in_while)),
    Program(alias_in_branch, normal((7,), then=(1.0,))),
    *(Program(f, normal((6,), (6,))) for f in (
        written_in_branches, copied_or_shared, older_in_the_other_branch)),
    Program(kept_matrix, normal((4, 4))),
    Program(rolled_back, apart((5,))),
]
