"""Error of a mean over a random sample of heads, and difference between two captures of one network."""

import pandas as pd

from boundpaper.tables import Column, Table, fixed, sentences

ROWS = {
    "ap_overall": "plasticity, overall",
    "ap_first_20": "plasticity, first 20 %",
    "ap_last_20": "plasticity, last 20 %",
    "ap_drop": "drop of plasticity",
}


def table(pretrained_draws: pd.DataFrame) -> Table:
    """Return one row per model and metric."""
    own_draws = pretrained_draws[pretrained_draws["of"] == "own"]
    keys = ["display_name", "metric"]
    by_size = own_draws.pivot(index=keys, columns="drawn", values="draw_sd").add_prefix("d").reset_index()
    source = pretrained_draws[pretrained_draws["of"] == "source"]
    rows = source.merge(by_size, on=keys, how="left", validate="one_to_one", sort=False)
    rows["label"] = rows["metric"].map(ROWS)
    rows["absent"] = "The model has no more heads"
    first, second, shared, heads = (int(source[name].iloc[0]) for name in ("drawn", "drawn_other", "common", "heads"))
    counts = own_draws.drop_duplicates("model")
    sizes = "; ".join(f"{row['display_name']}: {row['heads']} heads" for _, row in counts.iterrows())
    return Table(
        rows=rows,
        columns=[
            Column("label", "", sentences),
            Column("spread", "over\nheads", fixed(3), group="Standard deviation"),
            *(
                Column(f"d{k}", f"mean of\n{k}", fixed(3), group="Standard deviation", reason="absent")
                for k in sorted(own_draws["drawn"].unique())
            ),
            Column(
                "twice_sd",
                f"draws of {first} and {second}\nof {heads:,} differ",
                fixed(4),
                ci=("twice_low", "twice_high"),
                group="Standard deviation",
            ),
            Column("twin_difference", "Reported,\none network twice", fixed(4)),
        ],
        groups="display_name",
        caption=(
            "Deviation that drawing some of a model's heads adds to their mean. Unit: one head. In brackets 95 % "
            "intervals from resampled key heads. The last column is the difference of the reported captures of "
            "two models with the same text weights [@shcherb2026]."
        ),
        short="What drawing heads adds to a mean over them",
        note=(
            f"Analysed heads ({sizes}). The mean of $k$ heads drawn of $N$ without replacement has the standard "
            "deviation $S \\sqrt{(1 - k/N)/k}$, with $S$ that over heads. The reported captures "
            f"drew {first} and {second} of the network's {heads} heads, with {shared} in common: the means of $k$ and "
            "$l$ heads with $c$ in common differ by a standard deviation of $S \\sqrt{1/k + 1/l - 2c/(kl)}$."
        ),
    )
