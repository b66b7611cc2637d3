import copy
import gc
import pickle
import weakref
from collections import OrderedDict, defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer import grad, jit, tree


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Layer:
    weights: Any
    bias: Any
    activation: str = field(default="tanh", metadata={"static": True})


@dataclass(frozen=True, slots=True)
class Positive:
    value: Any
    doubled: Any = field(init=False)

    def __post_init__(self) -> None:
        if self.value <= 0:
            raise ValueError("value must be positive")
        object.__setattr__(self, "doubled", 2 * self.value)


class Polynomial:
    def __init__(self, coefficients: Any, variable: Any) -> None:
        self.coefficients = coefficients
        self.variable = variable


class Interval:
    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high


tree.register(
    Polynomial,
    lambda p: (p.coefficients, p.variable),
    lambda variable, children: Polynomial(list(children), variable),
)
tree.register(
    Interval,
    lambda i: ((i.low, i.high), None),
    lambda _, children: Interval(*children),
    names=("low", "high"),
)

EXAMPLES: list[tuple[Any, str, list[str]]] = [
    (1.0, "*", [""]),
    ((), "()", []),
    ((1,), "(*,)", ["[0]"]),
    ((1, [2, 3]), "(*, [*, *])", ["[0]", "[1][0]", "[1][1]"]),
    ([], "[]", []),
    (None, "None", []),
    ([None, 1], "[None, *]", ["[1]"]),
    ({}, "{}", []),
    ({"w": 1, "b": [2, 3]}, "{'w': *, 'b': [*, *]}", ["['w']", "['b'][0]", "['b'][1]"]),
    ({3: 1, ("a", 1): 2}, "{3: *, ('a', 1): *}", ["[3]", "[('a', 1)]"]),
    (OrderedDict(b=1, a=2), "OrderedDict({'b': *, 'a': *})", ["['b']", "['a']"]),
    (defaultdict(list, a=1), "defaultdict(list, {'a': *})", ["['a']"]),
    (defaultdict(None, a=1), "defaultdict(None, {'a': *})", ["['a']"]),
    (Point(1, (2,)), "Point(x=*, y=(*,))", [".x", ".y[0]"]),
    (Layer(1, {"b": 2}), "Layer(weights=*, bias={'b': *}, activation='tanh')",
     [".weights", ".bias['b']"]),
    (Positive(3), "Positive(value=*, doubled=*)", [".value", ".doubled"]),
    (Polynomial([1, 2], "x"), "Polynomial(*, *, static='x')",
     [".coefficients[0]", ".coefficients[1]"]),
    ([Interval(0, 1)], "[Interval(low=*, high=*)]", ["[0].low", "[0].high"]),
]  # fmt: skip


@pytest.mark.parametrize(("example", "text", "paths"), EXAMPLES, ids=[e[1] for e in EXAMPLES])
def test_shown_reached_and_rebuilt(example: Any, text: str, paths: list[str]) -> None:
    leaves, structure = tree.flatten(example)
    assert repr(structure) == text
    assert structure.paths() == paths
    assert structure.count == len(leaves) == len(paths)
    rebuilt = tree.unflatten(structure, leaves)
    assert type(rebuilt) is type(example)
    assert tree.flatten(rebuilt) == (leaves, structure)


@pytest.mark.parametrize("example", [e[0] for e in EXAMPLES], ids=[e[1] for e in EXAMPLES])
def test_structures_pickle_copy_and_hash(example: Any) -> None:
    structure = tree.structure(example)
    assert pickle.loads(pickle.dumps(structure)) == structure
    assert copy.deepcopy(structure) == structure
    assert hash(pickle.loads(pickle.dumps(structure))) == hash(structure)


def test_paths_lead_to_the_leaves() -> None:
    params = {"layers": [Layer(10, Point(11, 12)), Interval(13, (14,))], 7: 15}
    leaves, structure = tree.flatten(params)
    assert [eval(f"params{path}", {"params": params}) for path in structure.paths()] == leaves


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((0, 0), [0, 0]),
        ((0, 0), (0, 0, 0)),
        ((0,), ((0,),)),
        ((0,), 0),
        (None, 0),
        (None, ()),
        ({"a": 0}, {"b": 0}),
        ({"a": 0}, OrderedDict(a=0)),
        ({"a": 0, "b": 0}, {"b": 0, "a": 0}),
        ({1: 0}, {True: 0}),
        ({1: 0}, {1.0: 0}),
        ({0.0: 0}, {-0.0: 0}),
        (Point(0, 0), (0, 0)),
        (Layer(0, 0), Layer(0, 0, "relu")),
        (Polynomial([0], 1), Polynomial([0], 1.0)),
    ],
)
def test_structures_that_differ(one: Any, other: Any) -> None:
    assert tree.structure(one) != tree.structure(other)
    assert tree.structure(other) != tree.structure(one)
    assert tree.structure(one) == tree.structure(one)


def test_a_structure_is_no_other_object() -> None:
    assert tree.structure((1,)) != (1,)
    assert tree.LEAF != "*"
    assert tree.structure(1.0) is tree.LEAF


def test_subclasses_of_containers_are_leaves() -> None:
    class Names(dict):  # type: ignore[type-arg]
        pass

    assert tree.structure([Names(a=1)]) == tree.structure([1])


def test_arrays_are_leaves_and_stay_themselves() -> None:
    w = np.zeros(3)
    leaves, structure = tree.flatten({"w": w})
    assert leaves[0] is w
    assert tree.unflatten(structure, leaves)["w"] is w


def test_dataclass_is_rebuilt_without_its_checks() -> None:
    gradient = tree.map(lambda leaf: -leaf, Positive(3))
    assert (gradient.value, gradient.doubled) == (-3, -6)


def test_defaultdict_keeps_its_factory() -> None:
    assert tree.map(str, defaultdict(list, a=1))["missing"] == []


def test_unflatten_makes_new_containers() -> None:
    given = [1, [2]]
    rebuilt = tree.map(lambda leaf: leaf, given)
    assert rebuilt == given
    assert rebuilt is not given and rebuilt[1] is not given[1]


def test_unflatten_takes_an_iterator() -> None:
    assert tree.unflatten(tree.structure((0, (0,))), iter("ab")) == ("a", ("b",))


@pytest.mark.parametrize("count", [1, 3])
def test_unflatten_counts_leaves(count: int) -> None:
    with pytest.raises(ValueError, match=rf"\(\*, \*\) has 2 leaves, got {count}"):
        tree.unflatten(tree.structure((0, 0)), [0] * count)


def test_map_matches_dictionaries_by_key() -> None:
    first = {"a": 1, "b": {"c": 2, "d": 3}}
    second = {"b": {"d": 30, "c": 20}, "a": 10}
    summed = tree.map(lambda x, y: x + y, first, second)
    assert summed == {"a": 11, "b": {"c": 22, "d": 33}}
    assert list(summed) == ["a", "b"] and list(summed["b"]) == ["c", "d"]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"b": [0]}, {"b": 1.5}, "tree 2['b'] is a leaf of type float, expected [*]"),
        ((0, 0), (0, [1, 2]), "tree 2[1] is [*, *], expected a leaf"),
        ((0, 0), (0, None), "tree 2[1] is None, expected a leaf"),
        ([(0, 0)], [(0, 0, 0)], "tree 2[0] is (*, *, *), expected (*, *)"),
        ({"a": 0}, {"b": 0}, "tree 2 is {'b': *}, expected {'a': *}"),
        ({"a": 0}, {"a": 0, "b": 0}, "tree 2 is {'a': *, 'b': *}, expected {'a': *}"),
        (Point(0, (0,)), Point(0, [0]), "tree 2.y is [*], expected (*,)"),
        ([Layer(0, 0)], [Layer(0, 0, "relu")], "activation='relu'), expected Layer("),
        (Interval(0, (0,)), Interval(0, 0), "tree 2.high is a leaf of type int, expected (*,)"),
    ],
)
def test_map_says_where_trees_differ(first: Any, second: Any, message: str) -> None:
    with pytest.raises(ValueError) as raised:
        tree.map(lambda x, y: x, first, second)
    assert message in str(raised.value)


def test_messages_stay_short() -> None:
    with pytest.raises(ValueError) as raised:
        tree.structure([0] * 1000).leaves_of(0, "tangents")
    assert len(str(raised.value)) < 400


def test_map_over_three_trees() -> None:
    assert tree.map(lambda x, y, z: x * y + z, (1, 2), (3, 4), (5, 6)) == (8, 14)


@pytest.mark.parametrize("cls", [dict, tuple, list, type(None), Interval])
def test_register_refuses_what_is_a_container(cls: type) -> None:
    with pytest.raises(ValueError, match="is already registered as a pytree container"):
        tree.register(cls, lambda node: ((), None), lambda static, children: None)


def test_register_counts_named_children() -> None:
    class Pair:
        pass

    tree.register(Pair, lambda pair: ((1, 2, 3), None), lambda *_: Pair(), names=("a", "b"))
    with pytest.raises(ValueError, match="children a, b, but its flatten returned 3"):
        tree.flatten(Pair())


def test_register_after_use_as_a_leaf() -> None:
    class Box:
        def __init__(self, content: Any) -> None:
            self.content = content

    assert tree.structure(Box(1)) is tree.LEAF
    tree.register(Box, lambda box: ((box.content,), None), lambda _, children: Box(*children))
    assert tree.leaves([Box((1, 2))]) == [1, 2]


def test_unhashable_static_part_is_named() -> None:
    structure = tree.structure(Polynomial([1.0], ["x"]))
    with pytest.raises(TypeError, match=r"static part \['x'\] of Polynomial is not hashable"):
        hash(structure)


def test_pickle_of_an_unregistered_class_is_refused() -> None:
    structure = tree.structure(Polynomial([1.0], "x"))
    rebuild, (_, static, children) = structure.__reduce__()  # type: ignore[misc]
    with pytest.raises(ValueError, match="complex is not registered"):
        rebuild(complex, static, children)


@pytest.mark.usefixtures("young_garbage")
def test_local_classes_can_be_freed() -> None:
    @dataclass
    class Local:
        x: Any

    reference = weakref.ref(Local)
    assert tree.leaves(Local(1)) == [1]
    del Local
    gc.collect()
    assert reference() is None


TREES = st.recursive(
    st.floats(allow_nan=False) | st.none(),
    lambda children: (
        st.lists(children, max_size=3)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=2), children, max_size=3)
        | st.builds(Point, children, children)
        | st.builds(Layer, children, children)
    ),
    max_leaves=12,
)


@given(TREES)
def test_flatten_and_unflatten_are_inverse(example: Any) -> None:
    leaves, structure = tree.flatten(example)
    assert tree.unflatten(structure, leaves) == example
    assert structure.leaves_of(example) == leaves
    assert tree.map(lambda leaf, again: again, example, example) == example


@given(TREES, TREES)
def test_equal_structures_share_leaves(one: Any, other: Any) -> None:
    a, b = tree.structure(one), tree.structure(other)
    assert (a == b) == (repr(a) == repr(b))
    if a == b:
        assert hash(a) == hash(b)
        assert a.leaves_of(other) == tree.leaves(other)


PARAMS = {"w": np.arange(6.0).reshape(2, 3), "layers": [{"w": np.arange(3.0), "b": np.ones(2)}]}


def decayed(p: Any) -> Any:
    total = tree.reduce(lambda sofar, x: sofar + x, tree.map(lambda x: np.sum(x ** 2), p), 0.5)
    shares = tree.map_with_path(lambda path, x: 0.0 if path.endswith("['b']") else np.sum(np.sin(x)), p)
    cubes = [np.sum(x ** 3) for path, x in tree.leaves_with_path(p) if "[0]" in path]
    return total + sum(tree.leaves(shares)) + sum(cubes)


def test_reduced_and_mapped_with_paths() -> None:
    """In a function that is read it is what it is called plainly."""
    w, own, b = PARAMS["w"], PARAMS["layers"][0]["w"], PARAMS["layers"][0]["b"]         # type: ignore[index, call-overload]
    expected = 0.5 + np.sum(w ** 2) + np.sum(own ** 2) + np.sum(b ** 2) + np.sum(np.sin(w)) + np.sum(np.sin(own))
    expected += np.sum(own ** 3) + np.sum(b ** 3)
    assert decayed(PARAMS) == pytest.approx(expected, rel=1e-14)
    assert jit(decayed)(PARAMS) == pytest.approx(expected, rel=1e-14)
    slope = grad(decayed)(PARAMS)
    np.testing.assert_allclose(slope["w"], 2 * w + np.cos(w), rtol=1e-14)
    np.testing.assert_allclose(slope["layers"][0]["b"], 2 * b + 3 * b ** 2, rtol=1e-14)


def test_nothing_to_reduce() -> None:
    assert tree.reduce(max, [None, ()], 7) == 7
    with pytest.raises(TypeError):
        tree.reduce(max, [None, ()])


def test_a_further_tree_with_another_structure_is_counted_as_it_was_passed() -> None:
    with pytest.raises(ValueError, match=r"tree 2 is \{'b': \*\}, expected \{'a': \*\}"):
        tree.map_with_path(lambda path, x, y: x, {"a": 1}, {"b": 1})
