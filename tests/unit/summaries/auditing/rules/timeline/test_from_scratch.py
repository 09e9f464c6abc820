"""GL206: whether a restart restored the weights."""

import numpy as np
import pytest
from audits.audited import found_in, log


def restarted(tmp_path, begin):
    """What GL206 says of a loss that goes on in another file, from a step of its own course."""
    noise = 0.01 * np.random.default_rng(0).standard_normal(200)

    def loss(step, behind=0):
        return float(0.2 + 2 * 0.95 ** (step - behind) + noise[step])

    log(tmp_path, range(100), suffix=".0", value=loss)
    log(tmp_path, range(100, 200), suffix=".1", start=1e9 + 500, value=lambda step: loss(step, 100 - begin))
    return found_in(tmp_path)["GL206"]


def test_a_loss_that_is_back_at_the_first_points_is_a_warning(tmp_path):
    found = restarted(tmp_path, 0)
    assert found.severity.name == "WARNING"
    assert found.message == (
        "restarted at step 100; no points of loss were superseded; loss is 2.205 at step 100, after 0.1984 at step 99"
        " and 2.201 at step 0: the weights were not restored"
    )
    assert "GL302" not in found_in(tmp_path)  # which it explains


@pytest.mark.parametrize("begin", [100, 40, 20])
def test_a_loss_that_goes_on_or_is_a_little_higher_is_a_note(tmp_path, begin):
    found = restarted(tmp_path, begin)
    assert (found.severity.name, found.message) == (
        "INFO",
        "restarted at step 100; no points of loss were superseded",
    )
