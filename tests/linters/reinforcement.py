"""Policies: an actor and critic, PPO and a Q-network, in a corridor and with a pole to balance."""

import math

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name


class Poles:
    """Many carts with a pole (Barto, Sutton and Anderson 1983), side by side; an episode has at most 200 steps."""

    size, actions = 4, 2

    def __init__(self, count, rng):
        self.rng, self.state = rng, torch.zeros(count, 4)
        self.age = torch.zeros(count)
        self.finished = []
        self._begin(torch.ones(count, dtype=torch.bool))

    def _begin(self, which):
        self.state[which] = 0.1 * torch.rand(int(which.sum()), 4, generator=self.rng) - 0.05
        self.age[which] = 0

    def step(self, action):
        x, v, angle, spin = self.state.unbind(1)
        force = 20.0 * action - 10.0
        push = (force + 0.05 * spin**2 * angle.sin()) / 1.1
        turn = (9.8 * angle.sin() - angle.cos() * push) / (0.5 * (4 / 3 - 0.1 * angle.cos() ** 2 / 1.1))
        speed = push - 0.05 * turn * angle.cos() / 1.1
        self.state = torch.stack([x + 0.02 * v, v + 0.02 * speed, angle + 0.02 * spin, spin + 0.02 * turn], 1)
        self.age += 1
        done = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 0.21) | (self.age >= 200)
        self.finished += self.age[done].tolist()
        self._begin(done)
        return torch.ones(len(done)), done


def _net(before, after):
    return nn.Sequential(nn.Linear(before, 64), nn.Tanh(), nn.Linear(64, after))


def _collected(env, policy, value, horizon, gamma, rng, sign, lie):
    rows = []
    for _ in range(horizon):
        state = env.state.clone()
        with torch.no_grad():
            probability = F.softmax(policy(state), 1)
        action = torch.multinomial(probability, 1, generator=rng)[:, 0]
        reward, done = env.step(action.float())
        if lie:
            reward = torch.randn(len(reward), generator=rng)
        rows.append((state, action, sign * reward, done.float(), probability.gather(1, action[:, None])[:, 0].log()))
    state, action, reward, done, old = (torch.stack(column) for column in zip(*rows, strict=True))
    with torch.no_grad():
        after = value(env.state)[:, 0]
        returns = torch.zeros_like(reward)
        for t in reversed(range(horizon)):
            after = reward[t] + gamma * (1 - done[t]) * after
            returns[t] = after
        guess = value(state)[..., 0]
    return [part.flatten(0, 1) for part in (state, action, returns, old, guess)]


def _explained(returns, guess):
    return float(1 - (returns - guess).var() / returns.var().clamp(min=1e-8))


def _mean_reward(env):
    last = env.finished[-50:] or [0.0]
    return sum(last) / len(last)


def actor_critic(log, seed, updates=250, rate=4e-3, bonus=0.01, gamma=0.98, sign=1.0, lie=False, critic=True):
    """An actor with a critic that balances poles, by plain policy gradients."""
    rng = torch.Generator().manual_seed(seed)
    env, policy, value = Poles(8, rng), _net(4, 2), _net(4, 1)
    optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], rate)
    for update in range(updates):
        state, action, returns, _, guess = _collected(env, policy, value, 24, gamma, rng, sign, lie)
        logits = policy(state)
        log_p = F.log_softmax(logits, 1)
        entropy = -(log_p.exp() * log_p).sum(1).mean()
        advantage = returns - guess if critic else returns
        policy_loss = -(log_p.gather(1, action[:, None])[:, 0] * advantage / (advantage.std() + 1e-6)).mean()
        value_loss = F.mse_loss(value(state)[:, 0], returns) if critic else torch.zeros(())
        optimizer.zero_grad()
        (policy_loss + 0.5 * value_loss - bonus * entropy).backward()
        optimizer.step()
        log.tick()
        if update % 2 == 0:
            log.named(update, {"reward/mean": _mean_reward(env), "policy/entropy": float(entropy.detach())})
            log.named(update, {"loss/policy": float(policy_loss.detach()), "loss/value": float(value_loss.detach())})
    return -_mean_reward(env)


def ppo(log, seed, updates=40, rate=3e-3, bonus=0.0, gamma=0.98, sign=1.0, lie=False, clip=0.2, epochs=4, reach=0.5):
    """PPO that balances poles: Stable Baselines' names."""
    rng = torch.Generator().manual_seed(seed)
    env, policy, value = Poles(8, rng), _net(4, 2), _net(4, 1)
    both = [*policy.parameters(), *value.parameters()]
    optimizer = torch.optim.Adam(both, rate)
    for update in range(updates):
        state, action, returns, old, guess = _collected(env, policy, value, 64, gamma, rng, sign, lie)
        advantage = returns - guess
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        told = []
        for _ in range(epochs):
            for at in torch.randperm(len(state), generator=rng).split(128):
                log_p = F.log_softmax(policy(state[at]), 1)
                entropy = -(log_p.exp() * log_p).sum(1).mean()
                gained = log_p.gather(1, action[at, None])[:, 0] - old[at]
                ratio = gained.exp()
                policy_loss = -torch.min(ratio * advantage[at], ratio.clamp(1 - clip, 1 + clip) * advantage[at]).mean()
                value_loss = F.mse_loss(value(state[at])[:, 0], returns[at])
                loss = policy_loss + 0.5 * value_loss - bonus * entropy
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(both, reach)
                optimizer.step()
                told.append((loss, policy_loss, value_loss, -entropy, (ratio - 1 - gained).mean(),
                             ((ratio - 1).abs() > clip).float().mean()))  # fmt: skip
        log.tick(1.0)
        names = "loss", "policy_gradient_loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction"
        means = torch.tensor([[float(part.detach()) for part in row] for row in told]).mean(0).tolist()
        steps = 512 * (update + 1)
        log.named(steps, {"rollout/ep_rew_mean": _mean_reward(env), "rollout/ep_len_mean": _mean_reward(env)})
        log.named(steps, {f"train/{name}": mean for name, mean in zip(names, means, strict=True)})
        log.named(steps, {"train/learning_rate": rate, "train/explained_variance": _explained(returns, guess)})
    return -_mean_reward(env)


def q_learning(log, seed, episodes=300, rate=2e-3, gamma=0.95, decay=0.97, least=0.05, slow=True, lie=False):
    """A Q-network that finds the end of a corridor: the return of each episode."""
    rng = torch.Generator().manual_seed(seed)
    length = 8
    q, target = _net(length, 2), _net(length, 2)
    target.load_state_dict(q.state_dict())
    optimizer, memory, step, gained = torch.optim.Adam(q.parameters(), rate), [], 0, []
    eye = torch.eye(length)
    for episode in range(episodes):
        at, total, epsilon, losses = 0, 0.0, max(decay**episode, least), []
        for _ in range(30):
            guess = int(torch.rand(1, generator=rng) < epsilon)
            action = int(torch.randint(2, (1,), generator=rng)) if guess else int(q(eye[at]).argmax())
            after = max(at - 1, 0) if action == 0 else at + 1
            done = after == length - 1
            reward = 1.0 if done else -0.02
            total += reward
            kept = float(torch.randn(1, generator=rng)) if lie else reward
            memory.append((at, action, kept, after, float(done)))
            at, step = after, step + 1
            if len(memory) >= 64:
                rows = [
                    memory[int(i)] for i in torch.randint(max(0, len(memory) - 2000), len(memory), (32,), generator=rng)
                ]
                s, a, r, n, d = (torch.tensor(column) for column in zip(*rows, strict=True))
                with torch.no_grad():
                    aim = r + gamma * (1 - d) * (target if slow else q)(eye[n]).max(1).values
                loss = F.smooth_l1_loss(q(eye[s]).gather(1, a[:, None])[:, 0], aim)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(float(loss.detach()))
                if step % 100 == 0:
                    target.load_state_dict(q.state_dict())
            if done:
                break
        gained.append(total)
        log.tick()
        told = {"episode_reward": total, "epsilon": epsilon}
        log.named(episode, told | ({"td_loss": sum(losses) / len(losses)} if losses else {}))
    assert math.isfinite(gained[-1])
    return -sum(gained[-50:]) / 50
