"""Runs that go well are left alone at any moment: some cuts of each; `python -m labelled.cuts` takes all of them."""

import numpy as np
import pytest
from labelled import cuts, healthy, trainings
from labelled.runs import SIZES

SEED = 7


@pytest.mark.parametrize("maker", healthy.HEALTHY, ids=lambda maker: maker.__name__)
def test_a_healthy_run_is_left_alone_while_it_goes_on(maker):
    rng = np.random.default_rng([SEED, healthy.HEALTHY.index(maker)])
    for points, noise in SIZES:
        shares = (1 + rng.integers(cuts.CUTS, size=2)) / cuts.CUTS
        assert list(cuts.accused(maker(rng, points, noise), shares)) == []


@pytest.mark.parametrize("name", trainings.HEALTHY)
def test_a_training_that_goes_well_is_left_alone_while_it_goes_on(name):
    columns = trainings.train(np.random.default_rng(SEED), cuts.STEPS, **trainings.HEALTHY[name])
    assert list(cuts.accused(columns, np.arange(1, 6) / 5)) == []
