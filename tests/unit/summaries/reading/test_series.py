"""Series and items as objects: how they are compared."""

import numpy as np

from summaries import Items, Series


def test_points_are_compared_by_identity_and_can_be_kept_in_sets():
    """Equality of arrays would be an array, which has no truth value."""
    step, wall_time = np.arange(2), np.arange(2.0)
    for one, other in [
        (Series("loss", step, wall_time, wall_time), Series("loss", step, wall_time, wall_time)),
        (Items("image", step, wall_time, step, [], 0), Items("image", step, wall_time, step, [], 0)),
    ]:
        assert one == one  # noqa: PLR0124
        assert one != other
        assert len({one, other}) == 2
