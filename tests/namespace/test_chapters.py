"""Every function of the standard is there, and has a rule, an explicit None, or is made of functions that have."""

from __future__ import annotations

import doctest
import pickle

import pytest

CHAPTERS = {
    "creation": """arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril
        triu zeros zeros_like""",
    "data types": "astype can_cast finfo iinfo isdtype result_type",
    "elementwise": """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
        bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor
        floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2
        logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal
        positive pow real reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc""",
    "indexing": "take take_along_axis",
    "linear algebra": "matmul matrix_transpose tensordot vecdot",
    "manipulation": """broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims
        repeat reshape roll squeeze stack tile unstack""",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "set": "isin unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistical": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utility": "all any diff",
}
# Made of others, which have the rules.
COMPOSED = {
    "broadcast_arrays", "broadcast_to", "diff", "meshgrid", "moveaxis", "repeat", "searchsorted", "take",
    "take_along_axis", "tile", "vecdot", "where", "astype", "asarray", "from_dlpack",
}  # fmt: skip
# They make arrays of nothing, or of an array's shape alone, or are about shapes and data types: no gradient.
APART = {
    "arange", "broadcast_shapes", "can_cast", "empty", "empty_like", "eye", "finfo", "full", "full_like", "iinfo",
    "isdtype", "linspace", "ones", "ones_like", "result_type", "zeros", "zeros_like",
}  # fmt: skip
NAMES = [name for names in CHAPTERS.values() for name in names.split()]


@pytest.mark.parametrize("name", NAMES)
def test_every_function_has_a_rule_or_says_that_there_is_none(xp, name):
    function = getattr(xp, name)
    if name in COMPOSED | APART:
        return
    assert all(rule is None or callable(rule) for rule in function.primitive.rules)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"bool"}))
def test_every_function_is_documented_with_an_example(xp, name):
    text = getattr(xp, name).__doc__
    assert ">>> import arrayflow as af" in text
    assert f"af.{name}(" in text
    assert "Returns\n" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_run(xp, name):
    """Functions that are made, not written, are found by no doctest collector."""
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    (test,) = doctest.DocTestFinder(recurse=False).find(getattr(xp, name), name, module=False, globs={})
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(optionflags=options).run(test, out=report.append)
    assert tried
    assert not failed, "".join(report)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"bool"}))
def test_functions_can_be_pickled(xp, name):
    function = getattr(xp, name)
    assert pickle.loads(pickle.dumps(function)) is function


# Those whose outputs are integers, booleans or constant almost everywhere, or whose arguments have no slopes.
NO_RULE = """all any argmax argmin argsort bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor ceil count_nonzero equal floor floor_divide greater greater_equal isfinite isin isinf isnan less
    less_equal logical_and logical_not logical_or logical_xor nextafter nonzero not_equal round signbit trunc unique_all
    unique_counts unique_inverse unique_values"""


def test_rules_are_missing_where_there_is_no_slope_and_nowhere_else(xp):
    without = {
        name
        for name in NAMES
        if name not in COMPOSED | APART and all(rule is None for rule in getattr(xp, name).primitive.rules)
    }
    assert without == set(NO_RULE.split())
