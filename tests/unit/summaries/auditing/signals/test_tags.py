"""Which tag is what: one table of everybody's names."""

import pytest

from summaries.auditing.signals.tags import ROLES, Meaning, TagTable

TAGS = {
    "loss": [
        "train/loss", "loss", "Loss", "train_loss", "Loss/train", "training/loss", "training_loss", "trainLoss",
        "TrainLoss", "trainloss", "losses/total", "losses/total_loss", "train/total_loss", "total_loss",
        "Loss/total_loss", "loss/epoch",
        "loss/train/total", "my_test/train/loss", "model/encoder/loss", "loss_avg", "avg_loss", "running_loss",
        "loss per token", "loss_ema",
        "epoch_loss", "batch_loss", "loss_vs_iterations", "epoch_dense_1_loss", "epoch_mae",  # Keras
        "epoch_root_mean_squared_error", "loss_1", "OptimizeLoss/loss",  # TF1
        "Loss/classification_loss", "Loss/RPNLoss/localization_loss",  # TF's object detection
        "train_loss_step", "train_loss_epoch", "train/loss_epoch", "train_loss/dataloader_idx_0",  # Lightning
        "train/train_loss",  # Hugging Face, timm, fastai, Flax
        "lm loss", "lm loss vs samples", "lm-loss-training/lm loss", "mtp_1 loss", "train/lm_loss",  # Megatron, NeoX
        "Train/Samples/train_loss",  # DeepSpeed
        "reduced_train_loss",  # NeMo
        "loss_metrics/global_avg_loss",  # torchtitan
        "lm_loss",  # nanotron
        "learning/loss",  # MaxText
        "train/cross_ent_loss", "train/cross_ent_loss_per_all_target_tokens",  # T5X
        "train/CE loss", "train/CrossEntropyLoss", "train/PPL", "train/Perplexity",  # OLMo
        "metrics/train/LanguageCrossEntropy", "metrics/train/LanguagePerplexity",  # Composer, llm-foundry
        "train_inner/loss", "train_inner/nll_loss", "ppl", "train_inner/ppl",  # fairseq
        "loss_cls", "loss_bbox", "decode.loss_ce", "loss_rpn_loc", "train/box_loss", "train/dfl_loss",  # detectors
        "TrainIterStats/loss", "TrainEpochStats/avg_loss_mel",  # Coqui
        "loss/current", "loss/average",  # kohya
        "epoch_metrics/training_loss",  # AllenNLP
        "train/nll", "losses/cross_entropy_loss", "perplexity", "train/mse", "rmse", "mae", "bits_per_byte", "bpb",
        "train/bits per byte", "bits_per_dim", "neg_elbo", "elbo_loss", "train/objective", "train_ce", "xent",
        "cost", "train/cost", "mae/train", "losses/l_pix", "recon_error", "NLL/fit",
        "contrastive_loss", "info_nce_loss", "ctc_loss", "recon_loss", "smooth_l1_loss", "SmoothL1Loss", "seg_loss",
        "mlm_loss", "MLMLoss", "BCELoss", "train/foo_loss", "loss per sample", "dpo_loss", "mean_squared_error",
    ],
    "validation_loss": [
        "validation/loss", "val_loss", "eval/loss", "eval_loss", "test_loss", "Loss/val", "Loss/test", "Loss/valid",
        "valid/loss", "test/loss", "validation_loss", "loss/validation", "loss/val", "loss_val", "val_ce", "valLoss",
        "ValLoss", "dev/loss", "heldout/loss", "held_out/nll", "train/val_loss", "val/rmse", "val_mae",
        "epoch_val_loss", "evaluation_loss_vs_iterations", "epoch_val_dense_1_loss",  # Keras
        "val/loss_epoch", "val_loss_epoch", "val_loss/dataloader_idx_0", "val_loss_epoch/dataloader_idx_1",  # Lightning
        "eval/wiki_loss", "eval_wiki_loss", "eval_perplexity",  # Hugging Face of several sets, Flax
        "lm loss validation", "lm loss validation ppl", "lm loss validation vs samples",  # Megatron
        "lm loss validation ppl vs samples", "lm-loss-validation/lm loss validation", "validation/lm_loss",
        "validation/lm_loss_ppl",
        "validation_metrics/loss",  # torchtitan
        "eval/avg_loss", "training_eval/c4/cross_ent_loss",  # MaxText, T5X
        "eval/lm/CE loss", "eval/lm/c4_en-validation/CE loss", "eval/c4_en-validation/CrossEntropyLoss",  # OLMo
        "eval/lm/c4/PPL",
        "metrics/eval/LanguageCrossEntropy", "metrics/eval/wiki_LanguageCrossEntropy",  # Composer, llm-foundry
        "metrics/eval/c4/LanguageCrossEntropy",
        "val/box_loss", "val/cls_loss",  # YOLO
        "EvalStats/avg_loss", "loss/validation/epoch_average", "epoch_metrics/validation_loss",
        "val/cross_entropy", "valid/nll", "valid/ppl", "eval/bpb", "val/bits_per_byte", "test/mse", "val/neg_elbo",
        "test_recon_error", "val/error", "NLL/holdout",
    ],
    "auxiliary_loss": [
        "train/policy_loss", "train/value_loss", "train/policy_gradient_loss",  # Stable-Baselines3
        "train/actor_loss", "train/critic_loss", "train/ent_coef_loss", "train/entropy_loss",
        "losses/td_loss", "td_loss", "losses/qf1_loss", "losses/actor_loss", "losses/alpha_loss",  # CleanRL
        "Losses/Policy Loss", "Losses/Value Loss", "Loss/surrogate", "Loss/value_function",  # ML-Agents, rsl_rl
        "Loss / Policy loss", "losses/a_loss", "losses/c_loss", "LossPi", "LossV", "LossQ", "critic/vf_loss",
        "actor/pg_loss", "q_loss", "loss/q",
        "loss_G", "loss_D", "g_loss", "d_loss", "generator_loss", "loss_G_A", "discriminator/loss", "gen_loss",
        "train/adv_loss", "loss/gradient_penalty", "wgan_loss",
        "kl_loss", "loss/kl", "val/kl_loss", "elbo", "train/elbo", "vq_loss", "commitment_loss", "codebook_loss",
        "train/z_loss", "train/Z loss", "load_balancing_loss", "train/load balancing loss", "train/router Z loss",
        "train/aux_loss", "learning/moe_lb_loss", "aux.loss_ce", "losses/regularization_loss", "reg_loss", "l2_loss",
        "train/l1_loss", "weight_decay_loss", "perceptual_loss", "tv_loss",
    ],
    "learning_rate": [
        "train/learning_rate", "lr", "learning_rate", "learning-rate", "epoch_learning_rate", "lr-AdamW", "lr-Adam/pg1",
        "optim/lr", "optim/LR (group 0)", "learning-rate vs samples", "lr/group0", "train/lr", "train_inner/lr",
        "lr-SGD-1", "optim/learning_rate_group0", "LearningRate", "lr/AdamW",
        "lr-DecoupledAdamW/group0", "lr/pg0", "x/lr0", "Train/Samples/lr",
        "learning/current_learning_rate", "Policy/Learning Rate",
    ],
    "global_norm": [
        "gradients/global_norm", "train/grad_norm", "grad-norm", "grad_norm", "optim/total_grad_norm", "gnorm",
        "train_inner/gnorm", "grad_2.0_norm_total", "global_norm/gradient_norm",
        "OptimizeLoss/global_norm/gradient_norm",
        "l2_norm/grad/global", "grad-norm vs samples", "gradient_norm", "train/global_grad_norm", "optim/grad_norm",
        "global_grad_norm", "optim/total grad norm", "learning/raw_grad_norm",
        "total_norm", "grad/norm", "norm/grad", "gradients/total_norm",
    ],
    "clipped_global_norm": [
        "gradients/clipped_global_norm", "global_norm/clipped_gradient_norm", "train/grad_norm_clipped",
    ],
    "clip_norm": ["gradients/clip_norm", "optim/max_grad_norm", "train/clip_norm"],
    "clipped": ["gradients/clipped", "train/clipped", "grad_clipped"],
    "clipped_percent": ["clip", "train_inner/clip"],
    "clipped_fraction": [
        "gradients/clipped_fraction", "optim/clipping_rate", "train/clip_frac", "grad_clip/fraction",
        "clip_fraction",
    ],
    "nonfinite": ["gradients/nonfinite"],
    "loss_scale": ["loss-scale", "train/loss_scale", "loss scale", "scale", "train/amp_scale", "grad_scaler/scale"],
    "gradient_norm": [
        "gradients/norm/layer1/kernel", "grad_2.0_norm/layer1.weight", "grad_norm/layer1.weight",
        "grad_2.0_norm_layer1",
        "l2_norm/grad/model.layers.0.weight", "grad/blocks.0.weight.norm", "gradient_norm/dense/kernel:0",
        "OptimizeLoss/gradient_norm/dense/kernel", "grad/norm/b", "gradients/b/norm", "grads_norm/0/weight",
    ],
    "zero_fraction": ["gradients/zero_fraction/w"],
    "weight_norm": ["weights/norm/w", "weights_norm/0/weight", "param/blocks.0.weight.norm", "l2_norm/param/w"],
    "update_norm": ["updates/norm/w", "l2_norm/update/w"],
    "update_ratio": ["updates/ratio/w", "update_ratio/w"],
    "slot_mean": ["slots/v/mean/w", "exp_avg_sq/blocks.0.weight.avg"],
    "slot_norm": ["slots/m/norm/w", "exp_avg/blocks.0.weight.norm", "l2_norm/moment/w"],
    "slot_max": ["slots/m/max/w", "exp_avg_sq/w.max"],
    "slot_min": ["exp_avg_sq/w.min"],
    "forecast_rise": ["optimizer/forecast_rise"],
    "epsilon_share": ["optimizer/epsilon_share/layer1/kernel"],
    "gradient_rms": ["optimizer/gradient_rms/w"],
    "orthogonality_residual": ["optimizer/orthogonality_residual/w"],
    "distance": ["optimizer/distance/w"],
    "steps_per_second": ["train/global_step_per_sec", "global_step/sec", "steps_per_second"],
    "part_norm": ["grad_norm_g", "grad_norm_d", "train/grad_norm_critic"],  # VITS
    "reward": [
        "rollout/ep_rew_mean", "test/reward", "Environment/Cumulative Reward", "charts/episodic_return",
        "rewards/step", "Episode/rew_feet_air_time", "Train/mean_reward", "episode_reward", "EpRet", "eprewmean",
        "Reward / Total reward",
    ],
    "episode_length": [
        "rollout/ep_len_mean", "eval/mean_ep_length", "Environment/Episode Length", "episode_lengths/step", "EpLen",
        "Train/mean_episode_length", "charts/episodic_length", "eplenmean",
    ],
    "metric": [
        "accuracy", "eval/accuracy", "val/psnr", "train_acc_step", "metrics/mAP_0.5", "metrics/mAP50-95(B)",
        "bbox/AP50",
        "epoch_accuracy", "val_f1", "Test/IoU", "accuracy_1", "eval/bleu", "test_wer",
    ],
    "housekeeping": [
        "train/epoch", "epoch", "throughput/tokens_per_sec", "iteration-time", "hp_metric", "time/fps",
        "Perf/total_fps",
        "time/total_timesteps", "train/n_updates", "data_time", "eta_seconds", "eval/runtime", "train/total_flos",
        "train/global_step", "charts/SPS", "Perf/collection time", "performance/step_time", "memory", "info/epochs",
    ],
    "other_axis": [],  # by the other tags: see below
    "": [
        "histogram", "lossless", "step_size", "timer",
        "glossary", "color", "train/entropy", "losses/explained_variance", "objective/kl",
        "train/approx_kl", "image/scale",
        "packet_loss", "network/packet_loss", "network/packet/loss", "packet-loss", "PacketLoss", "health_loss",
        "stop_loss", "trade/stop_loss", "weight_loss", "hearing_loss", "heat_loss", "path_loss", "power_loss",
        "profit_loss", "insertion loss", "hair_loss", "blood loss", "life_loss", "data_loss", "job_loss", "gain_loss",
        "losses", "game/losses", "wins_losses", "loss of signal", "lossy", "loss_landscape", "flossing",
        "best_loss", "best_val_loss", "val/best_loss", "lowest_loss", "min_loss", "loss/min", "train/best/loss",
        "epoch_metrics/best_validation_loss", "loss_metrics/global_max_loss", "steps_since_best_loss",
        "tokens_per_loss", "train/tokens_per_loss", "loss_weight", "train/loss_weight", "loss_coef", "loss_ratio",
        "loss_time", "train/loss_std", "loss_count", "num_losses", "loss_threshold", "loss_diff", "loss rate",
        "train/loss_scaler_steps", "loss_fn", "loss/learning_rates", "mse_of_what", "ce_weight", "objects",
        "log_likelihood", "", "/", "...", "💥", "損失",
        "loss" + 1000 * "s", 500 * "a/" + "loss",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("role", "tag"), [(role, tag) for role, tags in TAGS.items() for tag in tags])
def test_role(role, tag):
    assert TagTable().meaning(tag).role == role


def test_every_role_is_tried_here():
    assert {*ROLES, ""} == set(TAGS)


def test_variables_and_slots():
    table = TagTable()
    assert table.meaning("slots/v/max/a/b") == Meaning("slot_max", "a/b", "v")
    assert table.meaning("grad_2.0_norm/layer1.weight").variable == "layer1.weight"
    assert table.meaning("exp_avg_sq/blocks.0.weight.norm") == Meaning("slot_norm", "blocks.0.weight", "exp_avg_sq")


@pytest.mark.parametrize("run", ["validation", "lenet/validation", "run_eval", "fold1/test", "val"])
def test_a_loss_in_a_validation_run(run):
    assert TagTable().meaning("epoch_loss", run).role == "validation_loss"
    assert TagTable().meaning("epoch_loss", "train").role == "loss"


RUNS = {
    "Stable-Baselines3": ("rollout/ep_rew_mean", "rollout/ep_len_mean"),
    "DQN of Stable-Baselines3": ("rollout/exploration_rate",),
    "CleanRL": ("charts/episodic_return", "losses/td_loss"),
    "RLlib": ("ray/tune/episode_reward_mean",),
    "RLlib, new": ("env_runners/episode_return_mean",),
    "TF-Agents": ("Metrics/AverageReturn",),
    "Dopamine": ("Train/AverageReturns",),
    "ML-Agents": ("Environment/Cumulative Reward",),
    "rsl_rl": ("Train/mean_reward",),
    "Spinning Up": ("EpRet",),
    "baselines": ("eprewmean",),
    "TRL": ("train/reward", "train/kl"),
    "OpenRLHF": ("train/policy_loss",),
    "TD": ("td_error",),
    "GAN": ("loss_D",),
    "GAN in words": ("train/discriminator_loss",),
}


@pytest.mark.parametrize("marks", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("tag", ["train/loss", "eval/loss", "loss"])
def test_losses_that_need_not_fall(marks, tag):
    assert TagTable(tags=[tag, *marks]).meaning(tag).role == "auxiliary_loss"
    assert TagTable([("loss", tag)], [tag, *marks]).meaning(tag).role == "loss"  # who says so knows


@pytest.mark.parametrize(
    "others",
    [
        ["train/learning_rate", "eval/loss", "train/kl_loss"],
        ["train/rewards/chosen", "train/rewards/margins", "train/rewards/accuracies"],  # preferences, which are learnt
        ["learning/dpo_reward_accuracy"],
        ["finance/return", "game/q", "values"],
        ["train/commitment_loss"],
    ],
    ids=str,
)
def test_losses_that_are_to_fall_beside(others):
    assert TagTable(tags=["train/loss", *others]).meaning("train/loss").role == "loss"


def test_the_perplexity_of_a_codebook_is_to_rise():
    assert TagTable(tags=["train/vq_loss"]).meaning("train/perplexity").role == "auxiliary_loss"
    assert TagTable(tags=["train/vae"]).meaning("train/perplexity").role == "loss"


def test_a_criterion_beside_a_loss_is_a_metric():
    tags = ["Loss", "MAE", "MAE_val", "RMSE", "epoch"]
    table = TagTable(tags=tags)
    assert [table.meaning(tag).role for tag in tags] == ["loss", "metric", "validation_loss", "metric", "housekeeping"]
    assert TagTable(tags=[*tags, "Loss_val"]).meaning("MAE_val").role == "metric"


def test_values_on_a_second_axis():
    table = TagTable(tags=["rewards/step", "rewards/iter", "rewards/time", "step/time"])
    assert [table.meaning(tag).role for tag in ("rewards/iter", "rewards/time")] == ["other_axis"] * 2
    assert table.meaning("step/time").role == "housekeeping"


def test_an_own_pattern_without_a_variable_names_each_tag():
    assert TagTable([("gradient_norm", "g/.*")]).meaning("g/a") == Meaning("gradient_norm", "g/a")


def test_own_patterns_come_first():
    table = TagTable([("loss", "objective_.*"), ("", "train/loss"), ("gradient_norm", "g@(?P<variable>.*)")])
    assert table.meaning("objective_a").role == "loss"
    assert table.meaning("train/loss") == Meaning("", judged=False)
    assert table.meaning("g@w") == Meaning("gradient_norm", "w")
    assert table.meaning("loss").role == "loss"


def test_what_an_optimizers_theory_says_is_no_sign_of_reinforcement_learning():
    """Its ε is not that of exploration."""
    what = "update_rms gradient_rms epsilon_share momentum_cosine effective_rate trust_ratio rank_one_error distance"
    table = TagTable(tags=["train/loss", *(f"optimizer/{each}/w" for each in what.split())])
    assert (table.meaning("train/loss").role, table.moving_target) == ("loss", False)
    assert TagTable(tags=["train/loss", "epsilon"]).meaning("train/loss").role == "auxiliary_loss"
