"""Make tables of a population with known effects, in the format of `lab population`."""

import numpy as np
import pandas as pd

MULTIPLES = (0.5, 1.0, 2.0, 4.0, 8.0)
CONTEXTS = 40
ARMS = "ABCDE"
EXTENSIONS = {"A": ("pi", "ntk", "yarn"), "B": ("pi", "ntk", "yarn"), "C": ("temperature",)}
FAR = {"A": 0.1, "B": 0.1, "C": 0.8, "D": 0.5, "E": 0.7}  # chance of finding a far key


def model_name(base, seed, arm):
    return f"none-s{seed}-E" if arm == "E" else f"b{base}-s{seed}-{arm}"


def population_tables(seeds=range(1, 9), bases=(400, 10_000), arms=ARMS, missed=(), far=FAR):
    """Return all tables by name. The models named in `missed` have `reached` false."""
    models, keys, tasks, losses, heads, ablation = [], [], [], [], [], []
    prompts = pd.concat([prompt_rows(seed) for seed in seeds], ignore_index=True)
    for base in bases:
        for seed in seeds:
            for arm in arms:
                if arm == "E" and base != bases[0]:
                    continue
                model = model_name(base, seed, arm)
                rng = np.random.default_rng([base, seed, ord(arm)])
                models.append(
                    {
                        "model": model,
                        "arm": arm,
                        "base": 0 if arm == "E" else base,
                        "seed": seed,
                        "positional": "none" if arm in "CDE" else "rope",
                        "start": model_name(base, seed, "A") if arm in "BCD" else "none",
                        "steps": 1000,
                        "rounds": 0,
                        "key_loss": 0.02,
                        "reached": model not in missed,
                        "arithmetic": "0" * 8,
                        "weights": "0" * 16,
                        "recipe": "0" * 16,
                    }
                )
                keys += key_rows(model, arm, prompts[prompts["seed"] == seed], rng, far)
                tasks += task_rows(model, rng)
                losses += loss_rows(model, arm)
                heads_of_model, ablation_of_model = head_rows(model, arm, seed, rng)
                heads += heads_of_model
                ablation += ablation_of_model
    tables = (models, keys, tasks, losses, heads, ablation)
    names = ("models", "keys", "tasks", "losses", "heads", "ablation")
    by_name = {f"population_{name}": pd.DataFrame(rows) for name, rows in zip(names, tables, strict=True)}
    return {**by_name, "population_prompts": prompts}


def prompt_rows(seed):
    rng = np.random.default_rng([seed, 1])
    rows = []
    for multiple in MULTIPLES:
        item = 0
        for context in range(CONTEXTS):
            for _ in range(context % 4 + 1):
                distance = int(rng.integers(6, round(128 * multiple)))
                rows.append((seed, multiple, item, context, context % 4 + 1, distance))
                item += 1
    return pd.DataFrame(rows, columns=["seed", "multiple", "item", "context", "keys", "distance"])


def key_rows(model, arm, prompts, rng, far):
    rows = []
    for encoding in ("own", *EXTENSIONS.get(arm, ())):
        for multiple in MULTIPLES if encoding == "own" else (2.0, 4.0, 8.0):
            asked = prompts[prompts["multiple"] == multiple].iloc[: None if encoding == "own" else 40]
            chance = np.where(asked["distance"] > 160, far[arm], 0.98)
            right = rng.random(len(asked)) < chance
            rows.append(
                {
                    "model": model,
                    "encoding": encoding,
                    "multiple": multiple,
                    "asked": len(asked),
                    "right": int(right.sum()),
                    "nats": 0.1,
                    "letters": "".join(np.where(right, "e", "o")),
                }
            )
    return rows


def task_rows(model, rng):
    return [
        {"model": model, "task": task, "multiple": 0.0, "asked": 24, "right": int(rng.integers(10, 24)), "nats": 0.1}
        for task in ("fact", "fact_held")
    ]


def loss_rows(model, arm):
    return [
        {"model": model, "text": "mixed", "words": words, "low": 0, "high": 128, "nats": nats, "count": 1000}
        for words, nats in (("other", 1.5 + 0.1 * (arm in "CD")), ("answer", 0.02))
    ]


def head_rows(model, arm, seed, rng):
    """Return rows of heads and of ablations. In each layer, damage grows with plasticity but not with bias."""
    heads, ablation = [], [ablation_row(model, -1, -1, 0.1)]
    for layer in range(5):
        plasticity = rng.permutation([0.2, 0.4, 0.6, 0.8]) + 0.1 * layer * (arm in "AB")
        bias = rng.normal(size=4) * 1e-3
        for head in range(4):
            values = dict.fromkeys(("ap_overall", "ap_first_20", "ap_last_20"), plasticity[head])
            values |= {"ap_drop": 0.05, "bias_strength": bias[head], "bias_window": 128 * bias[head]}
            values |= {"sink": 0.1, "sink_null": 0.035, "sink_backcopy": 0.2, "value_ratio": 0.5}
            heads.append({"model": model, "layer": layer, "head": head, **values, "reason": ""})
            damage = plasticity[head] + 0.05 * rng.random()
            ablation.append(ablation_row(model, layer, head, 0.1 + damage))
    return heads, ablation


def ablation_row(model, layer, head, nats):
    row = {"model": model, "layer": layer, "head": head, "asked_1x": 100, "right_1x": 90, "nats_1x": nats}
    return {**row, "asked_4x": 40, "right_4x": 20, "nats_4x": nats, "text_nats": 1.5}
