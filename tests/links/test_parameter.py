"""First values: from initializers of any kind, in the parameter's own type and place, and nobody else's."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow import links as L
from arrayflow.errors import ShapeError


class TestFirstValues:
    def test_a_wider_type_from_an_initializer_is_cast_before_the_upload(self, device):
        p = L.Parameter(lambda shape, **kw: np.ones(shape), (2,), device=device)
        assert p.array is not None
        assert (p.dtype, p.device, p.numpy().dtype) == ("float32", device, np.float32)

    def test_an_array_that_the_initializer_holds_stays_its_own(self):
        held = np.ones(2, "float32")
        p = L.Parameter(lambda shape, **kw: held, (2,), device="cpu")
        assert p.array is not held
        assert not np.shares_memory(p.array, held)

    def test_an_initializer_that_gives_no_array_or_another_shape(self, device):
        with pytest.raises(TypeError, match="must give an array or a Variable, but gave a list"):
            L.Parameter(lambda shape, **kw: [1.0, 2.0], (2,), device=device).numpy()
        with pytest.raises(ShapeError, match=r"gave \(3,\) for \(2,\)"):
            L.Parameter(lambda shape, **kw: np.ones(3, "float32"), (2,), device=device).numpy()
