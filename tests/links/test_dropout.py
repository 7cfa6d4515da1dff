"""Dropout as a layer has a place of its own in the random stream."""

from __future__ import annotations

import numpy as np
import pytest

from arrayflow import links as L
from arrayflow import random
from arrayflow.config import using_config


class TestDropout:
    def test_layers_elsewhere_change_no_mask(self, put):
        x = put(np.ones((8, 8)))
        alone = L.Sequential(L.Dropout(0.5))(x).numpy()
        random.seed(0)
        model = L.Sequential(L.Dropout(0.5), L.Dropout(0.5))
        model[1](x)
        assert (model[0](x).numpy() == alone).all()
        assert random.get_state()["steps"] == {"0": 1, "1": 1}

    def test_each_call_drops_others(self, put):
        layer, x = L.Dropout(0.5), put(np.ones((8, 8)))
        assert (layer(x).numpy() != layer(x).numpy()).any()

    def test_in_evaluation_it_is_the_identity(self, put):
        x = put(np.ones(3))
        with using_config(train=False):
            assert L.Dropout(0.9)(x) is x

    def test_a_bad_ratio_is_refused_when_built(self):
        with pytest.raises(ValueError, match=r"in \[0, 1\), but it is 1"):
            L.Dropout(1)
