"""Lists that one branch makes longer than the other, lists of lists that are written after loops made them, and tuples
in order."""

import numpy as np

from .program import Program, fixed

VECTOR = np.array([1.2, -0.7, 0.4, 2.1])
BELOW = -VECTOR


def terms_that_count(x, y):
    terms = []
    if x > 0:
        terms.append(x)
    if y > 0:
        terms.append(y * 2)
    terms.append(x * y)
    return np.sum(np.array(terms) ** 2)


def last_group(x):
    """The sums of runs of positive numbers; the last run ends with the array."""
    sums = []
    total = 0.0
    is_open = False
    for v in x:
        if v > 0:
            total = total + v
            is_open = True
        elif is_open:
            sums.append(total)
            total, is_open = 0.0, False
    if is_open:
        sums.append(total)
    return np.sum(np.array(sums) ** 2)


def pairs_of_either_branch(x, y):
    pairs = [(x[0], y)]
    if x[1] > 0:
        pairs.append((x[1], y * 2))
        pairs.append((x[2], y * 3))
    elif y > 1:
        pairs.append((y, x[0]))
    total = 0.0
    for a, b in pairs:
        total += a * b
    return total * len(pairs)


def rows_of_either_branch(x):
    rows = []
    if x[0] > 0:
        rows.append(x * 2)
    if x[1] > 0:
        rows.append(x**2)
    if not rows:
        return 0.0
    return np.sum(np.stack(rows).mean(axis=0)) + np.max(rows)


def one_less(x):
    stack = [x[0], x[1] ** 2]
    if x[2] > 0:
        stack.pop()
    return sum(stack) * stack[-1]


def extended_on_one_side(x):
    items = []
    if x[0] > 0:
        items += [x[0], x[1]]
    else:
        items.extend(v for v in x)
    return sum(items) * len(items) + min(items)


def known_beforehand(x, is_squared):
    """An argument decides, so that arrays in the list may stay what they are."""
    parts = [x]
    if is_squared:
        parts.append(x[1:] ** 2)
    return np.sum(np.concatenate(parts))


def swapped_in_a_table(x):
    table = [[x[i] * x[j] if i != j else 1.0 for j in range(3)] for i in range(3)]
    table[0][1], table[1][0] = table[1][0], table[0][1] * 2
    columns = [list(row) for row in zip(*table)]
    return sum(table[i][k] * columns[k][i] for i in range(3) for k in range(3)) + np.linalg.det(np.array(table))


def row_that_is_replaced(x):
    table = [[v * k for v in x] for k in range(3)]
    table[1][2] = x[0] ** 2
    table[2] = table[0][::-1]
    return sum(sum(row) * k for k, row in enumerate(table, 2))


def places_around_and_inside(x):
    places = np.array([[0, 7], [-9, 3]])
    y = np.take(x, places, mode="wrap") * np.take(x, places, mode="clip")
    z = x.copy()
    np.put(z, [7, -8], [1.5, x[0]], mode="wrap")
    np.put(z, [17], 2.0, mode="clip")
    return np.sum(y) + np.sum(z**2) + np.sum(np.choose([0, 5, -1, 1], [x, x**2], mode="wrap"))


def escape_of_parts(c):
    z, step = 0j, complex(c[0], c[1])
    count = 0
    while abs(z) < 2 and count < 6:
        z = z * z + step
        count += 1
    return abs(z) ** 2 + complex(2.0, c[0]).imag * count


def tuples_in_order(x):
    a, b = (x[0], x[1]), (x[0], x[2])
    total = x[1] if a < b else x[2] * 2
    total *= 3 if [x[1], (x[0], 1)] >= [x[1], (x[0], 2)] else 5
    total += 1.0 if (x[0],) <= (x[0], x[1]) else 2.0
    return total * min((x[1], 2), (x[1], 1), (x[3], 7))[1] + max([(x[0], x[3]), (x[1], x[0])])[1] ** 2


def least_pair_of_a_loop(x):
    best = (x[0], 0)
    for i in range(1, len(x)):
        best = min(best, (x[i], i))
    return best[0] ** 2 * best[1]


def lists_added_up(x):
    rows = sum([[v, v * k] for k, v in enumerate(x)], [x[0]])
    return sum(v * k for k, v in enumerate(rows)) + len(sum(([v] for v in x[:2]), []))


def isotonic(y, w):
    """Neighbours that are out of order are pooled, each block with its mean, weight and count."""
    means, weights, counts = [], [], []
    for i in range(len(y)):
        means.append(y[i])
        weights.append(w[i])
        counts.append(1)
        while len(means) > 1 and means[-2] >= means[-1]:
            m, weight, count = means.pop(), weights.pop(), counts.pop()
            means[-1] = (means[-1] * weights[-1] + m * weight) / (weights[-1] + weight)
            weights[-1] += weight
            counts[-1] += count
    return sum(m**2 * c + k * m for k, (m, c) in enumerate(zip(means, counts)))


def products_where_it_falls(x):
    """An iteration may take the last item off and write to the one before."""
    items = []
    for v in x:
        items.append(v)
        if len(items) > 1 and items[-2] >= items[-1]:
            last = items.pop()
            items[-1] = items[-1] * last
    return sum(v * k for k, v in enumerate(items, 1))


def by_precedence(x):
    """A stack of numbers, and one of texts, that a function of no arguments reduces."""
    named, rank = dict(zip("abcd", x)), {"+": 1, "-": 1, "*": 2}
    numbers, signs = [], []

    def reduced():
        b, a = numbers.pop(), numbers.pop()
        sign = signs.pop()
        numbers.append(a + b if sign == "+" else a - b if sign == "-" else a * b)

    for letter in "a+b*c-d":
        if letter in named:
            numbers.append(named[letter])
        else:
            while signs and rank[signs[-1]] >= rank[letter]:
                reduced()
            signs.append(letter)
    while signs:
        reduced()
    return numbers[0]


def independent_rows(a):
    """Gram and Schmidt's basis of the rows that are not spanned by those before."""
    basis = []
    for row in a:
        rest = row.copy()
        for q in basis:
            rest -= (q @ rest) * q
        size = np.linalg.norm(rest)
        if size < 1e-3:
            continue
        basis.append(rest / size)
    return np.sum(np.array(basis) ** 3 * np.arange(a.shape[1]))


def rows_of_large_ends(a):
    """The list is run over before it gets one more of the rows themselves."""
    rows = []
    for row in a:
        total = 0.0
        for r in rows:
            total += r @ row
        if row[0] > total:
            rows.append(row)
    return sum(np.sum(r**2) * k for k, r in enumerate(rows, 1))


def least_two_joined(x):
    """Huffman's cost: the sum of the least two goes back in its place, which there may be none left of."""
    heap = sorted(x.tolist())
    cost = 0.0
    while len(heap) > 1:
        a, b = heap.pop(0), heap.pop(0)
        cost += a + b
        k = 0
        while k < len(heap) and heap[k] < a + b:
            k += 1
        heap.insert(k, a + b)
    return cost * cost + sum(heap)


def neighbours(x, kicks):
    """Pairs of points that are near, found anew where the points have moved far."""
    def near(x):
        return [(i, j) for i in range(len(x)) for j in range(i) if abs(x[i] - x[j]) < 1.0]

    energy, pairs, seen = 0.0, near(x), x
    for kick in kicks:
        if np.max(np.abs(x - seen)) > 0.5:
            pairs, seen = near(x), x
        for i, j in pairs:
            energy += (x[i] - x[j]) ** 2
        x = x + 0.3 * kick
    return energy


def positive_ones(x, kicks):
    """The same with an array of places."""
    energy, places, seen = 0.0, np.nonzero(x > 0)[0], x
    for kick in kicks:
        if np.max(np.abs(x - seen)) > 0.5:
            places, seen = np.nonzero(x > 0)[0], x
        energy += np.sum(x[places] ** 2)
        x = x + 0.3 * kick
    return energy


def longest_run(x):
    """A list that one branch appends to where the other one begins another."""
    best, run = [], []
    for v in x:
        if v > 0:
            run.append(v)
        else:
            run = []
        if len(run) > len(best):
            best = list(run)
    return sum(v ** 2 for v in best)


def list_of_either_branch(x):
    path = [0]
    if x[0] > 0:
        path = path + [1, 2]
    elif x[1] > 0:
        path.append(2)
    return sum(x[i] ** 2 for i in path) * len(path)


KICKS = np.array([[1.5, -0.3, 0.8, -1.0], [1.9, 0.4, -2.6, 1.3], [0.3, 0.2, 0.5, -0.9]])
MOVING = np.array([0.3, -0.6, 1.2, 0.95]), KICKS
RUNS = np.array([0.3, 0.6, -0.4, 0.8, 0.9, 0.2, -1.0, 0.4])


PROGRAMS = [
    Program(neighbours, fixed(*MOVING), wrt=(0, 1)),
    Program(positive_ones, fixed(*MOVING), wrt=(0, 1)),
    Program(longest_run, fixed(RUNS)),
    Program(list_of_either_branch, fixed(VECTOR)),
    Program(least_two_joined, fixed(np.array([0.9, 2.0, 1.4, 0.3]))),
    Program(least_two_joined, fixed(np.array([0.9, 1.4])), name="only_two_joined"),
    Program(independent_rows, fixed(np.array([[1.2, -0.7, 0.4], [0.3, 0.9, -1.1]]))),
    Program(rows_of_large_ends, fixed(np.array([[1.2, -0.7], [0.3, 0.9], [2.0, 0.4]]))),
    Program(by_precedence, fixed(VECTOR)),
    Program(isotonic, fixed(VECTOR, np.array([0.5, 1.2, 2.0, 0.7])), wrt=(0, 1), tags=("loops",)),
    Program(products_where_it_falls, fixed(VECTOR), tags=("loops",)),
    Program(tuples_in_order, fixed(VECTOR)),
    Program(least_pair_of_a_loop, fixed(VECTOR)),
    Program(lists_added_up, fixed(VECTOR)),
    Program(terms_that_count, fixed(1.5, 0.5)),
    Program(terms_that_count, fixed(np.float64(-1.5), 0.5), name="terms_that_do_not"),
    Program(last_group, fixed(VECTOR)),
    Program(last_group, fixed(np.array([0.3, 1.1, -1.0, 2.0, -0.5])), name="last_group_that_ended"),
    Program(pairs_of_either_branch, fixed(VECTOR, 1.7), wrt=(0, 1)),
    Program(pairs_of_either_branch, fixed(BELOW, 1.7), wrt=(0, 1), name="pairs_of_the_other_branch"),
    Program(rows_of_either_branch, fixed(VECTOR)),
    Program(one_less, fixed(VECTOR)),
    Program(one_less, fixed(BELOW), name="none_less"),
    Program(extended_on_one_side, fixed(VECTOR)),
    Program(extended_on_one_side, fixed(BELOW), name="extended_by_all"),
    Program(known_beforehand, fixed(VECTOR, True)),
    Program(swapped_in_a_table, fixed(VECTOR)),
    Program(row_that_is_replaced, fixed(VECTOR)),
    Program(places_around_and_inside, fixed(VECTOR)),
    Program(escape_of_parts, fixed(np.array([0.3, 0.6]))),
]
