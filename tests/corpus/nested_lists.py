"""Lists that loops inside of loops fill, as pairs of neighbours and edges of graphs, or several loops in a row; and the
newest items of lists that grow."""

import numpy as np

from .program import Program, apart, fixed

VECTOR = np.array([0.7, -1.3, 0.45, 1.9, -0.2])


def bonds(positions, cutoff):
    pairs = []
    for i in range(len(positions)):
        for j in range(i):
            d = positions[i] - positions[j]
            if d @ d < cutoff**2:
                pairs.append(d)
    energy = 0.0
    for d in pairs:
        r6 = (d @ d) ** 3
        energy += 1 / r6**2 - 2 / r6
    return energy + 0.1 * len(pairs)


def edges(x):
    sources, targets = [], []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if abs(x[i] - x[j]) < 1.0:
                sources.append(i)
                targets.append(j)
    return np.sum((x[np.array(sources)] - x[np.array(targets)]) ** 4)


def neighbours_in_a_row(x):
    sources, targets = [], []
    for i in range(len(x) - 1):
        if x[i] * x[i + 1] < 0:
            sources.append(i)
            targets.append(i + 1)
    return np.sum(x[np.array(sources)] * x[np.array(targets)] ** 2)


def several_in_an_iteration(x):
    items = []
    for v in x:
        items.append(v)
        items.append(v * v)
    return np.array(items) @ np.arange(len(items))


def around_an_inner_loop(x):
    items = [0.0]
    for i in range(len(x)):
        items.append(x[i])
        for j in range(i):
            items.append(x[i] * x[j])
        items.append(-x[i])
    return sum(k * v for k, v in enumerate(items))


def triples(x):
    found = []
    for i in range(len(x)):
        for j in range(i):
            for k in range(j):
                if x[i] + x[j] > x[k]:
                    found.append((i, j, k))
    total = 0.0
    for i, j, k in found:
        total += x[i] * x[j] ** 2 * x[k] ** 3
    return total + len(found)


def vectors_of_pairs(x):
    rows = []
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] < x[j]:
                rows.append(np.array([x[i], x[j] ** 2]))
    table = np.array(rows)
    return np.sum(table[:, 0] * table[:, 1])


def newest_in_an_inner_loop(x):
    items = [x[0]]
    for i in range(3):
        for j in range(2):
            items.append(np.sin(items[-1]) + x[i] * x[j])
    return items[-1] + items[3]


def length_in_an_inner_loop(x):
    items = []
    for i in range(len(x)):
        for _ in range(2):
            items.append(x[i] * len(items))
    return np.sum(np.array(items) ** 2)


def copies_of_what_changes(x):
    items = []
    u = x.copy()
    for i in range(len(x)):
        for _ in range(i):
            items.append(u.copy())
        u *= 2
    return np.sum(np.array(items) ** 2)


def under_a_while(x):
    items, t, y = [], 0.0, x
    while t < 0.5:
        for v in y:
            items.append(v * t)
        y = np.sin(y)
        t += 0.1
    return np.sum(np.array(items) ** 2) + len(items)


def row_left_early(x):
    items = []
    for i in range(len(x)):
        for j in range(len(x)):
            if x[j] > 1.5:
                break
            items.append(x[i] * x[j])
    return np.sum(np.array(items) ** 2)


def extended(x):
    items = []
    for i in range(len(x)):
        items.extend([x[i] * x[j] for j in range(i)])
        items += [x[i]]
    return np.sum(np.array(items) ** 3)


def two_nests(x):
    items = []
    for i in range(len(x)):
        for j in range(i):
            items.append(x[i] * x[j])
    for i in range(len(x)):
        for j in range(i, len(x)):
            items.append(x[i] - x[j] ** 2)
    return np.sum(np.array(items) ** 2 * np.arange(len(items)))


def chosen_and_one_more(x):
    items = [v for v in x if v > 0] + [x[0]]
    total = 0.0
    for k in range(len(items)):
        total += items[k] ** 2
    return total + items[0] * items[-1]


def segments(x):
    sums, current = [], 0.0
    for v in x:
        if v < 0:
            sums.append(current)
            current = 0.0
        else:
            current += v
    sums.append(current)
    return sum(s**2 for s in sums)


def until_it_settles(x):
    history = []
    for k in range(30):
        x = x - 0.2 * np.sin(x)
        history.append(np.sum(x**2))
        if k > 0 and abs(history[-1] - history[-2]) < 1e-2:
            break
    return history[-1] + np.sum(history)


def while_it_changes(x):
    history = []
    while len(history) < 2 or abs(history[-1] - history[-2]) > 1e-2:
        x = x - 0.2 * np.sin(x)
        history.append(np.sum(x**2))
    return history[-1] + len(history)


def second_differences(x):
    items = []
    for v in x:
        items.append(v)
        if len(items) >= 3:
            x = x + 0.1 * (items[-1] - 2 * items[-2] + items[-3])
    return np.sum(x**2)


def two_before(x):
    states = [x, x * 0.5]
    while states[-1].sum() < 20.0:
        states.append(states[-1] * 1.5 + states[-2])
    return states[-1] @ states[-2] + len(states)


def settled_before_a_step(x):
    history = []
    for k in range(30):
        if k > 1 and abs(history[-1] - history[-2]) < 0.1:
            break
        x = x - 0.2 * np.sin(x)
        history.append(np.sum(x))
    return history[-1]


def records_broken(x):
    best = [0.0]
    for v in x:
        if v > best[-1] + 0.1:
            best.append(v * 1.1)
    return sum(b**2 for b in best) + len(best)


def rising(x):
    kept = []
    for v in x:
        if len(kept) == 0 or v > kept[-1]:
            kept.append(v)
    return np.prod(np.array(kept)) * len(kept)


def four_at_most(x):
    kept = []
    for v in x:
        if len(kept) < 2 or abs(v) < abs(kept[-2]):
            kept.append(np.sin(v))
        if len(kept) >= 4:
            break
    return sum(kept) + kept[-1]


def basis_of_rows(a):
    basis = []
    for v in a:
        if len(basis) > 0:
            v = v - (v @ basis[-1]) * basis[-1]
        n = np.linalg.norm(v)
        if n > 0.3:
            basis.append(v / n)
    return np.sum(np.array(basis) ** 3)


def pairs_if_any(x):
    products = []
    for i in range(len(x)):
        for j in range(i):
            if x[i] > x[j]:
                products.append(x[i] * x[j])
    return np.sum(np.array(products)) if len(products) else x[0]


def all_on_one_side(x):
    products = []
    for i in range(len(x)):
        for j in range(len(x)):
            products.append(x[i] * x[j])
    return np.sum(np.array(products)) if x[0] > 0 else x[0]


def arrays_of_one_list(x):
    items = []
    for i in range(len(x)):
        for j in range(2):
            items.append(x[i] * j)
    first, second, third = np.array(items), np.array(items), np.asarray(items)
    first[0] = 3.0
    second[1] = x[0]
    third[2:] *= 2
    return np.sum(first**2) + np.sum(second**3) + np.sum(np.array(items)) + np.sum(third)


PROGRAMS = [
    Program(pairs_if_any, fixed(VECTOR)),
    Program(all_on_one_side, fixed(VECTOR)),
    Program(arrays_of_one_list, fixed(VECTOR)),
    Program(settled_before_a_step, fixed(VECTOR)),
    Program(records_broken, fixed(VECTOR)),
    Program(rising, fixed(VECTOR)),
    Program(four_at_most, fixed(VECTOR)),
    Program(basis_of_rows, fixed(np.array([[0.7, -1.3], [0.45, 1.9], [-0.2, 0.3], [1.2, 0.1]]))),
    Program(until_it_settles, fixed(VECTOR)),
    Program(while_it_changes, fixed(VECTOR)),
    Program(second_differences, fixed(VECTOR)),
    Program(two_before, fixed(np.abs(VECTOR))),
    Program(bonds, fixed(np.array([[0.0, 0.0], [1.1, 0.0], [0.0, 1.2], [1.3, 1.2]]), 1.6)),
    Program(edges, fixed(VECTOR)),
    Program(neighbours_in_a_row, fixed(VECTOR)),
    Program(several_in_an_iteration, apart(("n",))),
    Program(around_an_inner_loop, apart(("n",))),
    Program(triples, apart(("n",))),
    Program(vectors_of_pairs, apart(("n",))),
    Program(newest_in_an_inner_loop, apart(("n",))),
    Program(length_in_an_inner_loop, apart(("n",))),
    Program(copies_of_what_changes, apart(("n",))),
    Program(under_a_while, apart(("n",))),
    Program(row_left_early, fixed(VECTOR)),
    Program(extended, apart(("n",))),
    Program(two_nests, apart(("n",))),
    Program(chosen_and_one_more, fixed(VECTOR)),
    Program(segments, fixed(VECTOR)),
]
