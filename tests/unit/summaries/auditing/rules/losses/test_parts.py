"""GL312: latents and discriminators that collapse, and parts that may be small."""

import numpy as np
import pytest
from audits.audited import codes, finding

N = np.arange(100)
GONE = 8 * 0.8**N


def test_latents_that_carry_nothing():
    found = finding("GL312", train__loss=90 + GONE, train__kl_loss=GONE)
    assert found.message.startswith("train/kl_loss falls from 8 at step 0 to about 6.277e-06 (steps 27-99): ")
    assert found.message.endswith(": the latents carry nothing")


def test_a_discriminator_that_wins():
    found = finding("GL312", loss_D=0.69 * 0.8**N, loss_G=0.7 + 0.1 * N)
    assert found.message.endswith(": the discriminator tells all apart, and the generator learns nothing from it")


@pytest.mark.parametrize(
    "columns",
    [
        {"train__kl_loss": np.full(100, 1e-3)},  # as small as ever
        {"train__kl_loss": 8 * 0.97**N},  # on its way
        {"train__kl_weight": GONE},
        {"rollout__ep_rew_mean": N, "train__kl": GONE},  # of policies
        {"train__cls_loss": GONE},
    ],
)
def test_what_is_no_collapse(columns):
    assert "GL312" not in codes(**columns)


def test_a_generator_that_fools_its_opponent():
    found = finding("GL312", loss_G=0.69 * 0.8**N, loss_D=0.7 + 0.1 * N)
    assert found.message.endswith(": the discriminator takes all for real, and does not learn")


def test_embeddings_that_become_alike():
    assert finding("GL312", train__loss=GONE, embedding__std=0.9**N).message.endswith(": all embeddings are alike")
    assert "GL312" not in codes(train__loss=GONE, embedding__std=0.3 + 0.7 * 0.9**N)


def test_a_distance_that_does_not_come_down():
    rising = 8 * (1 - 0.8**N)
    found = finding("GL312", d_loss=-rising, g_loss=rising, wasserstein_distance=rising)
    assert found.message == (
        "wasserstein_distance rises from 0 at step 0 to about 8 (steps 50-99), and does not come down: the"
        " generator comes no closer"
    )
    assert "GL312" not in codes(d_loss=-rising, g_loss=rising, wasserstein_distance=rising * 0.97**N)


def test_a_distance_that_is_negative():
    found = finding("GL312", d_loss=N * 0.0, g_loss=N * 0.0, wasserstein_distance=np.where(N % 3, 1.0, -1.0))
    assert found.message == (
        "wasserstein_distance is below 0 at 17 of 50 points in the second half: the critic takes what is made for"
        " what is real"
    )


def test_a_codebook_of_which_one_code_is_in_use():
    columns = {"recon_error": 0.8 + 0.1 * 0.9**N, "vq_loss": 0.1 * 0.9**N}
    found = finding("GL312", perplexity=1 + 3 * 0.5**N, **columns)
    assert found.message == (
        "perplexity is at most 1.05 at all 40 points in the end: all is one code, and the others are not in use"
    )
    assert "GL312" not in codes(perplexity=1 + N, **columns)
    assert "GL312" not in codes(perplexity=1 + 3 * 0.5**N, loss=0.8 + 0.1 * 0.9**N)  # of a language


def test_a_discriminator_that_tells_all_apart_by_what_it_says_of_fakes():
    found = finding("GL312", **{"Loss_D": 1 + 0 * N, "D(x)": 0.9 + 0 * N, "D(G(z))": 0.4 * 0.9**N})
    assert found.message.startswith("D(G(z)) falls from 0.4 at step 0 to about ")


def test_a_distance_from_what_is_real():
    n = np.arange(9)
    found = finding("GL312", Loss_D=1 + 0 * N, FID=570 + 5 * np.sin(n))
    assert found.message == (
        "FID does not come down: 570 at step 0, then about 573.3 (steps 6-8): by that, what is made is no closer"
        " to what is real"
    )
    assert finding("GL312", FID=570 * 0.8**n) is None
    lost = finding("GL312", FID=np.r_[570 * 0.7 ** n[:5], 1500, 1900, 1800, 1850])
    assert lost.message == "FID rises from 136.9 at step 4 to about 1850 (steps 6-8): what was learnt is lost"
