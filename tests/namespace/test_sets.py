"""Sets: values as NumPy's, and no gradient."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow.errors import DeviceMismatchError

X = np.asarray([[3.0, 1.0, 3.0], [2.0, 1.0, 3.0]])


class TestIsin:
    @pytest.mark.parametrize("invert", [False, True])
    def test_values(self, xp, make, same, invert):
        y = xp.isin(make([[1, 2], [3, 2]], "int32"), make([2, 5], "int32"), invert=invert)
        assert y.dtype == "bool"
        same(y, np.isin([[1, 2], [3, 2]], [2, 5], invert=invert))
        same(xp.isin(make([1, 2], "int32"), 2, invert=invert), np.isin([1, 2], 2, invert=invert))

    def test_types_come_together(self, xp, make, same):
        same(xp.isin(make([1.5, 2.0]), make([2], "int32")), [False, True])

    def test_two_devices_are_refused(self, xp, make, elsewhere):
        with pytest.raises(DeviceMismatchError, match=r"isin: .*x2 on"):
            xp.isin(make([1.0]), make([1.0], on=elsewhere))


@pytest.mark.data_dependent
class TestUnique:
    def test_values(self, xp, make, same):
        y = xp.unique_values(make(X, grad=True))
        assert not y.requires_grad
        same(xp.sort(y), [1, 2, 3])

    def test_counts(self, xp, make, same):
        found = xp.unique_counts(make(X))
        assert found._fields == ("values", "counts")
        order = xp.argsort(found.values)
        same(xp.take(found.values, order), [1, 2, 3])
        same(xp.take(found.counts, order), [2, 1, 3])

    def test_inverse(self, xp, make, same):
        found = xp.unique_inverse(make(X))
        assert found._fields == ("values", "inverse_indices")
        same(found.values[found.inverse_indices], X)

    def test_all(self, xp, make, same):
        found = xp.unique_all(make(X))
        assert found._fields == ("values", "indices", "inverse_indices", "counts")
        same(found.values[found.inverse_indices], X)
        same(xp.reshape(make(X), (-1,))[found.indices], found.values.numpy())
        assert int(xp.sum(found.counts)) == 6
