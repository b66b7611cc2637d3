"""Programs that the fuzzer found (`python -m tests.fuzz`), as small as it made them."""

import numpy as np

from transformer import grad

from .program import Program, fixed


def part_that_happens_to_be_one_broadcasts(x):
    y = x * 1
    y -= x[1::2, 1:] * x
    return np.sum(y * y)


def part_that_happens_to_be_one_is_put(x):
    x[[0, 0]] = x[::1, ::2]
    return np.sum(x * x)


def parts_of_one_length_are_merged(x):
    if np.linalg.norm(x) > 3:
        u = np.ones(2)
    else:
        u = x[::2]
    return np.sum(u * u)


def keys_are_compared_with_a_set(params):
    if params.keys() != {"w", "b"}:
        return 0.0
    return np.sum(params["w"]) * params["b"]


def loop_in_which_nothing_is_left_to_do(x):
    y, never = np.zeros_like(x), np.zeros_like(x)
    for i in range(len(x) - 1):
        if never[i] > 0.3:
            y[-i] += x[i]
    return y[0] * y[1] + np.sum(x)


def zeros_made_in_a_loop_around_another_are_written_later(x):
    s = 0.0
    for _ in range(2):
        y = np.zeros(3)
        for _ in range(3):
            s += x[2]
    for _ in range(3):
        y[:2] = x[:2] ** 2
    return np.sum(np.cos(y)) + s


def array_of_one_element(s):
    v = np.zeros(1) + s
    v[0] *= s
    return np.sum(v)


def gradient_of_masks_in_a_branch(x, s):
    def inner(x):
        y = x * 1
        for u in x:
            if s > u:
                chosen = y > 0.5
                y[chosen] += np.sin(y[chosen])
        return np.sum(y)

    return np.sum(grad(inner)(x) ** 2)


def array_in_argument_is_written(params):
    params["w"] *= np.cos(params["b"])
    params["layers"][0] += params["w"]
    params["w"][0] = params["b"]
    return np.sum(params["w"]) * np.sum(params["layers"][0])


def alias_in_a_branch_is_not_read_later(x, s):
    if s > 0:
        v = x[1:]
        s = s + v[0]
    x[1] = s
    return np.sum(x * x)


def alias_of_the_last_iteration_is_not_read(x):
    for a in x:
        x[0] *= a
        if x[1] > 5:
            break
        pair = [x, x * 2]  # noqa: F841
    return np.sum(x * x)


def alias_is_read_on_the_other_side(x, s):
    v = x if s > 0 else x * 2
    if s > 0.1:
        x[0] += s
        w = 1.0
    else:
        w = np.sum(v)
    return np.sum(x) * w


def sums_of_reversed_arrays(x, a):
    y = np.sum(x[::-1]) * np.sum(x[::-1] ** 2) + x[1]
    return np.sum(np.sum(a[::-1, ::-1], axis=0) ** 2) + np.sum(np.sum(a[:, ::-1] * y, axis=1, keepdims=True))


def sign_of_a_product_with_truth_values(x):
    return np.max(0.5 / x)


def mask_under_a_test_that_fails(x):
    if np.any(x > 2.0):
        chosen = x > 1.0
        x = x * 1.0
        x[chosen] += np.sin(x[chosen])
    return np.sum(x**2)


def list_made_an_array_and_written(x):
    """The array is what the loop recorded, and its reverse looks at that."""
    items = []
    c = 1.0
    for i in range(len(x)):
        c = np.exp(x[i] * c)
        items.append(c)
    y = np.array(items)
    y[0] *= 0.5
    y[1:] = y[:-1] * y[1:]
    return np.sum(y * y)

def cotangent_is_read_and_added_to(x):
    """What the comprehension adds has the cotangent of `x` itself, to which the loop adds."""
    x += [x @ x for b in x]
    x[2:] = 1
    return np.sum(x)

def part_that_happens_to_be_one_is_broadcast(A, B):
    return np.sum(B * np.broadcast_to(A[1::2, ::2], B.shape) ** 2)

def parts_of_ranges(x, k):
    total = 0.0
    for i in range(1, len(x))[-k:]:
        total += x[i] * x[i - 1] * i
    for i in range(len(x))[k:-1]:
        total += x[i] ** 3
    for i in range(6)[: len(x) - 1 : 2]:
        total += np.sin(i * x[0])
    for i in range(len(x))[: int(np.sum(x > 0))]:
        total += x[i] ** 2 * i
    return total + len(range(len(x))[-(k // 2) :]) * x[0]

def mask_of_computed_length(x):
    """Whether the lengths are equal is known when the program runs, which then says so."""
    u = x[x > 0]
    chosen = x[x < 0.35] > 0
    return np.sum(u[chosen] ** 2)


def part_of_a_branch_in_a_branch(x):
    """How long `x[f]` is leaves two branches; on the other sides it is 0."""
    for a in x:
        if a:
            return a
        if a > a:
            break
        f = x > x
        x[0] = 1
        x[f] *= x[f]
    return 0


def square_by_halves(g):
    if len(g) < 2:
        return
    square_by_halves(g[:1])
    g *= g


def rows_that_nobody_looks_at(A):
    """Unsimplified, what the comprehension records stands there and is not printed."""
    u = A[0]
    for j, _ in A:
        a = np.array([u if j % 3 < 2 else w for w in A])  # noqa: F841
    square_by_halves(u)
    return np.sum(np.sin(u))

def saved_where_a_branch_binds_it(x):
    """To save a name that some iterations do not bind is not to use it."""
    total = 0.0
    for a in x:
        if a > 0:
            y = a
            while y > 0.1:
                y = y * 0.5
            total += y * y
    return total

def saved_where_branches_in_branches_bind_it(x):
    total = 0.0
    if x[0] > 0:
        a = x[0]
        while a > 0.5:
            a = a * 0.7
        if a > 0.2:
            y = a
            while y > 0.1:
                y = y * 0.5
            total = y * y * a
    return total

def array_saved_up_to_a_break(x):
    for _ in x:
        if x[0] < 0:
            break
        while x[0] > 0.5:
            x *= 0.6
        mask = x > 0.1
        x[mask] -= np.sin(3 * x[mask])
    return np.sum(x * x)

def opposite_of_a_constant_truth_value(x):
    every = ~(np.zeros(4) > 1)
    x[every] += 0.5
    return np.sum(x * x)

def size_known_by_what_is_written(x):
    """That `v` has two elements is known from the second line on; what the loop begins with has its old size."""
    v = np.sin(x[::2])
    x[[0, 1]] = v
    while np.max(v) < 2.0:
        v = 1.5 * v
    return x[0] * v

def element_read_before_a_loop_replaces_the_array(x):
    u = x * 2
    first = u[1]
    for _ in range(3):
        if np.sum(u) < 3:
            u = u[::-1] * 1.5
    return first + u[0]


def name_that_is_not_bound_on_a_path(B, s):
    """Where the order of `v` is not made, its name still has the rows of the loop."""
    u = B
    v = u
    rows = [u, u, v]
    for _ in range(1):
        rows.append(rows.pop(0) * 2.0)
    w = rows[0]
    if not np.sum(v):
        return s
    h = np.sort(v)
    return np.sum(h) + np.sum(w * w)


def part_of_what_had_no_name(x, y):
    """At order 2 a part of a long expression is looked at in several places: the whole has a name, then."""
    x[1:-1][::2] = np.arctan2(y[1:], y[1:] * y[1:])
    w = np.cos(np.minimum(x, x))
    w, x = (x + w, w)
    return np.sum(np.sin(w))


def rows_by_recursion(v, count):
    if count <= 0:
        return np.ones(2) @ np.ones((2, 3))
    return rows_by_recursion(0.5 * np.arange(3), count - 1) + v


def array_made_by_recursions_is_written(a):
    np.sin([rows_by_recursion(row, 1) for row in a], out=a)
    return a[0, 0] * a[1, 2]


def first_scaled(v):
    v[0] = np.sin(v[-1]) * v[0]
    return np.sum(v)


def kept_by_loops_of_open_length_in_a_loop_over_rows(B, y):
    """A loop whose body takes items out of lists is copied where its memory might be rows of a larger one."""
    for u in B:
        a = first_scaled(u)
        for _ in B:
            for _ in range(int(np.sum(u[:3] > 1))):
                for m in range(1, 1 + int(np.sum(y[1:] > 0.3))):
                    y[: len(y) - m] -= np.sin(y[m:]) * a
    return np.sum(y * y) + np.sum(B)


PROGRAMS = [
    Program(kept_by_loops_of_open_length_in_a_loop_over_rows,
            fixed(np.array([[0.488, -0.528, 1.096]]), np.array([-1.184, -1.14])), wrt=(0, 1), tags=("loops",)),
    Program(part_of_what_had_no_name, fixed(np.array([-1.2, 0.3, -0.5]), np.array([0.5, 0.9])), wrt=(0, 1)),
    Program(name_that_is_not_bound_on_a_path, fixed(np.array([[-0.9, -0.5, -0.2]]), 1.179), wrt=(0, 1)),
    Program(element_read_before_a_loop_replaces_the_array, fixed(np.array([0.3, 0.5, 0.1])), tags=("loops",)),
    Program(opposite_of_a_constant_truth_value, fixed(np.array([0.7, 1.2, 0.7, 0.8])), tags=("loops",)),
    Program(size_known_by_what_is_written, fixed(np.array([0.7, 1.2, 0.7, 0.8])), tags=("loops", "results")),
    Program(saved_where_a_branch_binds_it, fixed(np.array([0.9, -0.5, 0.3])), tags=("loops",)),
    Program(saved_where_branches_in_branches_bind_it, fixed(np.array([0.9, -0.5, 0.2])), tags=("loops",)),
    Program(array_saved_up_to_a_break, fixed(np.array([0.9, 0.5, 0.2])), tags=("loops",)),
    Program(part_of_a_branch_in_a_branch, fixed(np.array([-0.901, 0.497, 0.245, 0.218]))),
    Program(rows_that_nobody_looks_at, fixed(np.array([[-0.536, -0.939], [1.069, 0.818], [0.539, 0.639]]))),
    Program(mask_of_computed_length, fixed(np.array([0.3, 0.4, -0.2]))),
    Program(parts_of_ranges, fixed(np.array([0.3, 0.5, -0.2, 0.7, 0.4]), 2)),
    Program(parts_of_ranges, fixed(np.array([0.3, 0.5, -0.2, 0.7, 0.4]), 0), name="parts_of_ranges_from_0"),
    Program(
        part_that_happens_to_be_one_is_broadcast,
        fixed(np.array([[0.6, 1.1], [0.6, 0.6], [0.7, 0.9]]), np.array([[0.7, 1.0, 1.0]])),
        wrt=(0, 1),
    ),
    Program(cotangent_is_read_and_added_to, fixed(np.array([0.7, 1.0, 0.7]))),
    Program(list_made_an_array_and_written, fixed(np.array([0.3, 0.5, 0.2]))),
    Program(sign_of_a_product_with_truth_values, fixed(np.array([-0.6, 0.6, 0.8]))),
    Program(sums_of_reversed_arrays, fixed(np.array([0.3, 0.6, 0.2]), np.array([[0.3, -0.6, 1.2], [0.8, 0.4, 0.1]]))),
    Program(alias_in_a_branch_is_not_read_later, fixed(np.array([0.3, 0.6, 0.2]), 0.4), wrt=(0, 1)),
    Program(alias_of_the_last_iteration_is_not_read, fixed(np.array([0.3, 0.6, 0.2]))),
    Program(alias_is_read_on_the_other_side, fixed(np.array([0.3, 0.6, 0.2]), 0.4), wrt=(0, 1)),
    Program(
        array_in_argument_is_written, fixed({"w": np.array([0.3, 0.7]), "b": 0.4, "layers": [np.array([0.2, 0.9])]})
    ),
    Program(array_of_one_element, fixed(np.float64(0.8))),
    Program(gradient_of_masks_in_a_branch, fixed(np.array([-0.9, 0.9, 0.6]), np.float64(0.8))),
    Program(part_that_happens_to_be_one_broadcasts, fixed(np.array([[-1.2, 0.8], [-1.1, -1.3], [-0.3, 0.5]]))),
    Program(part_that_happens_to_be_one_is_put, fixed(np.array([[-1.2, -1.1], [1.1, 0.5]]))),
    Program(parts_of_one_length_are_merged, fixed(np.array([0.6, 1.3, -0.6, 1.1]))),
    Program(keys_are_compared_with_a_set, fixed({"w": np.array([0.3, 0.7]), "b": 1.5})),
    Program(mask_under_a_test_that_fails, fixed(np.array([-0.9, -0.5, -0.2]))),
    Program(mask_under_a_test_that_fails, fixed(np.array([2.9, 1.5, -0.2])), name="mask_under_a_test_that_holds"),
    Program(loop_in_which_nothing_is_left_to_do, fixed(np.array([0.3, 0.8, -0.2])), tags=("loops",)),
    Program(zeros_made_in_a_loop_around_another_are_written_later, fixed(np.array([0.3, 0.8, -0.2])), tags=("loops",)),
    Program(array_made_by_recursions_is_written, fixed(np.array([[-1.2, 0.8, -1.1], [-1.3, -0.3, 0.5]]))),
]
