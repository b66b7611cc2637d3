"""Writing in loops whose slices grow and shrink, through aliases, views, lists and objects."""

import collections

import numpy as np

from .program import Program, normal


def window_times_window(x):
    """What an iteration keeps has another length than what its neighbour keeps."""
    y = x * 1.0
    for i in range(len(x)):
        y[i:] = x[:len(x) - i] * y[i:]
    return np.sum(y)


def window_added(x):
    y = x * 1.0
    for i in range(len(x)):
        y[i:] += x[:len(x) - i] * y[i]
    return np.sum(y)


def window_carried(x):
    total = 1.0
    for i in range(len(x)):
        total = np.sum(np.sin(x[i:])) * total
    return total


def convolution_in_place(x):
    total = 0.0
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i:] += x[i] * x[:len(x) - i]
        total += y[i] * y[i]
    return total


def triangle_of_windows(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1):
            part = x[j:i + 1] * x[i]
            total += np.sum(part * part) * total + part[0]
    return total


def prefix_view_scaled(x):
    y = np.zeros(len(x))
    for k in range(len(x)):
        head = y[:k + 1]
        head += x[k]
        head[-1] *= 2
    return np.sum(y**2)


def elimination_in_place(a):
    a = a + 3 * np.eye(len(a))
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1:] -= a[i, k] * a[k, k + 1:]
    product = 1.0
    for k in range(n):
        product *= a[k, k]
    return product


def buffers_exchanged(x, n):
    now, after = x.copy(), np.zeros_like(x)
    for _ in range(n):
        after[1:-1] = now[:-2] * now[2:]
        after[0] = now[0]
        after[-1] = now[-1] ** 2
        now, after = after, now
    return np.sum(now**2) + np.sum(after)


def rows_written_through_transpose(x):
    y = x.copy()
    y.T[0] = y.T[-1] * 2
    for column in y.T:
        column *= np.sum(column)
    for row in y:
        row[:] = row * np.sum(row)
    return np.sum(y * x)


def insertion_sort(x):
    y = x.copy()
    for i in range(1, len(y)):
        key = y[i]
        j = i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    return np.sum(y * y * np.arange(len(y)))


def rows_swapped_without_copy(a):
    """Both rows become the second: what is exchanged are views."""
    a = a.copy()
    a[0], a[1] = a[1], a[0]
    return np.sum(a**2 * np.arange(a.size).reshape(a.shape))


def alias_of_newest(x):
    before = np.zeros(len(x))
    total = 0.0
    for k in range(3):
        now = x * (k + 1) + before
        total += np.sum(now * before)
        before = now
        before[0] = total
    return total + np.sum(now)


def snapshots_in_list(x):
    states = []
    h = np.zeros(3)
    for v in x:
        h[0] += v
        h[1] = h[0] * h[2] + 1
        h[2] = h[1]
        states.append(h.copy())
    return np.sum(np.array(states) ** 2)


class Running:
    """Its attributes begin as those of the class."""

    total = 0.0
    count = 0
    newest = None
    scale = np.array([1.0, 0.5, 2.0])


def attribute_of_class_added_to(x):
    run = Running()
    for v in x:
        run.total += v
        run.count += 1
    return run.total**2 * run.count


def attribute_of_class_is_none(x):
    run = Running()
    for v in x:
        run.newest = v if run.newest is None else run.newest * v + 1
    return run.newest


def array_of_class_replaced(x):
    run = Running()
    for v in x:
        run.scale = run.scale * x
    return np.sum(run.scale)


def attribute_of_class_in_branch(x, s):
    run = Running()
    if s > 0:
        run.total = x[0] * s
    return run.total * x[1] + x[2]


def attribute_made_in_loop(x):
    run = Running()
    for v in x:
        if not hasattr(run, "product"):
            run.product = v
        else:
            run.product = run.product * v + 1
    return run.product * getattr(run, "absent", 2.0)


def key_made_in_loop(x):
    found = {}
    for v in x:
        found["k"] = v * found.get("k", 1.0) + len(found)
    return found["k"]


def key_tested_in_loop(x):
    found = {}
    for v in x:
        if "k" not in found:
            found["k"] = v
        found["k"] = found["k"] * v
    return found["k"]


def key_made_in_inner_loop(x):
    found = {}
    for i in range(2):
        for j in range(2):
            found["k"] = x[i] * x[j] * found.get("k", 1.0)
    return found["k"]


def keys_counted_in_loop(x):
    found = {"a": 1.0}
    total = 0.0
    for v in x:
        total += sum(found.values()) * v + len(found)
        found["k"] = v * total
    return total * total


def keys_with_defaults(x):
    sums = collections.defaultdict(float)
    for v in x:
        sums["k"] += v * v
        sums["j"] -= sums["k"]
    return sums["k"] * sums["j"]


def keys_with_lists(x):
    groups = {}
    for v in x:
        groups.setdefault("k", []).append(v)
    return sum(a * b for a, b in zip(groups["k"], groups["k"][1:]))


def key_taken_out_in_loop(x):
    """The order of the keys matters, also where a loop is read more than once."""
    kept = {"a": x[0], "b": x[1]}
    total = 0.0
    for v in x:
        for key in kept:
            total = total * 0.5 + kept[key] * v
        if "a" in kept:
            del kept["a"]
        else:
            kept["a"] = total
    return total * total


def copied_when_first_written(x):
    h = x
    for i in range(4):
        if h is x:
            h = h.copy()
        h[i] *= 2
    return np.sum(h * x)


def buffers_told_apart(x):
    a, b = x.copy(), x * 2
    now = a
    for _ in range(3):
        now = b if now is a else a
    return np.sum(now**2)


class Rows:
    """Rows that are read, written and deleted through the class."""

    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, key):
        return self.rows[key]

    def __setitem__(self, key, value):
        self.rows[key] = value

    def __delitem__(self, key):
        self.rows = np.delete(self.rows, key, axis=0)


def deleted_through_a_class(x):
    rows = Rows(np.outer(x, x))
    rows[1, 2] = rows[2, 1] * 3
    rows[0] += rows[3]
    del rows[0]
    return np.sum(rows.rows**2)


def items_of_two_lists(x):
    """Items of two lists are the same arrays; a slice of a list holds them, too, and an array of them does not."""
    first, second = [], []
    for k in range(3):
        a = np.full(2, x[k])
        first.append(a)
        second.append(a)
    first[0][1] = 5 * x[0]
    second[1][0] += first[0][1]
    part, whole = second[1:], np.array(first)
    part[1][0] *= x[1]
    whole[0] = 7.0
    return sum(np.sum(a * b) * (i + 1) for i, (a, b) in enumerate(zip(first, second))) + np.sum(whole * a)


def rows_of_a_matrix_in_a_list(x):
    m = np.outer(x, x)
    rows = [m[i] for i in range(3)]
    rows[0][1] += x[2]
    m[1] *= 2
    for i, row in enumerate(rows):
        row[i] -= rows[0][1] * i
    return np.sum(m**2) + np.sum(rows[2])


def one_array_in_all_items(x):
    zeros = np.zeros(2)
    items = [zeros for _ in range(3)]
    for k in range(3):
        items[k][k % 2] += x[k] ** 2
    return sum(np.sum(item * (k + 1)) for k, item in enumerate(items))


def accumulated_where_a_branch_says(x, n):
    sums = [np.zeros_like(x) for _ in range(n)]
    for i in range(n):
        for j in range(len(x)):
            sums[i][j] += x[j] * i
        if x[i] > 0:
            sums[i] *= 2
        else:
            sums[i - 1][:2] = x[:2]
    return sum(np.sum(each * each) for each in sums)


def written_after_three_steps(x):
    """What begins as a part of an argument is an array of its own after the first iteration."""
    position, speed = x[:2], x[2:]
    for _ in range(3):
        position, speed = position + 0.1 * speed, speed - 0.1 * position
    position[0] += 1.0
    speed *= position
    return np.sum(position**2) + np.sum(speed * x[:2])


def three_names_rotated(x):
    a = x.copy()
    b, c = 2 * x, a
    for _ in range(2):
        c = b
        b = a
        a = c + 1
    c[0] += 7.0
    b[1] += x[2]
    return np.sum(a * b * c) + np.sum(x)


def flat_views_of_sums(x):
    """Sums in place stay in the order of their array, those of two arrays in C order if one of them is."""
    m = np.zeros((2, 2))
    m += x[:2]
    flat = m.reshape(-1)
    flat[1] = x[2]
    outer = np.outer(x, x)
    outer -= 0.5 * outer.T
    outer.ravel()[::3] = x[0]
    return np.sum(m**2) + np.sum(outer * (outer + 1))


def elements_in_turn(x):
    """What lies in C order stays so, whatever was written through which view, in loops, too."""
    table = np.stack([x, x * x])
    columns = table.T
    columns[1] *= 2.0
    for i in range(3):
        table.ravel()[i] += x[i]
        table.reshape(3, 2)[i, 0] *= table[1, 1]
    lower = np.stack([x, x + 1.0, x * x])[1:]
    lower.ravel()[::2] = x[0]
    return np.sum(table**2) + np.sum(lower * lower)


PROGRAMS = [
    Program(deleted_through_a_class, normal((4,))),
    Program(window_times_window, normal(("n",))),
    Program(window_added, normal(("n",))),
    Program(window_carried, normal(("n",))),
    Program(convolution_in_place, normal(("n",))),
    Program(triangle_of_windows, normal(("n",))),
    Program(prefix_view_scaled, normal(("n",))),
    Program(elimination_in_place, normal(("n", "n"))),
    Program(buffers_exchanged, normal((5,), then=(3,))),
    Program(buffers_exchanged, normal((5,), then=(0,)), name="buffers_exchanged_never"),
    Program(rows_written_through_transpose, normal(("n", 3))),
    Program(insertion_sort, normal(("n",))),
    Program(rows_swapped_without_copy, normal((4, 3))),
    Program(alias_of_newest, normal(("n",))),
    Program(snapshots_in_list, normal(("n",))),
    Program(attribute_of_class_added_to, normal(("n",))),
    Program(attribute_of_class_is_none, normal(("n",))),
    Program(array_of_class_replaced, normal((3,))),
    Program(attribute_of_class_in_branch, normal((3,), then=(2.0,)), (0, 1)),
    Program(attribute_of_class_in_branch, normal((3,), then=(-2.0,)), (0, 1), name="attribute_of_class_kept"),
    Program(attribute_made_in_loop, normal(("n",))),
    Program(key_made_in_loop, normal(("n",))),
    Program(key_tested_in_loop, normal(("n",))),
    Program(key_made_in_inner_loop, normal((3,))),
    Program(keys_counted_in_loop, normal(("n",))),
    Program(keys_with_defaults, normal(("n",))),
    Program(keys_with_lists, normal(("n",))),
    Program(key_taken_out_in_loop, normal(("n",))),
    Program(copied_when_first_written, normal((4,))),
    Program(buffers_told_apart, normal((4,))),
    Program(flat_views_of_sums, normal((3,))),
    Program(written_after_three_steps, normal((4,))),
    Program(three_names_rotated, normal((3,))),
    Program(items_of_two_lists, normal((3,))),
    Program(rows_of_a_matrix_in_a_list, normal((3,))),
    Program(one_array_in_all_items, normal((3,))),
    Program(accumulated_where_a_branch_says, normal((3,), then=(3,))),
    Program(elements_in_turn, normal((3,))),
]
