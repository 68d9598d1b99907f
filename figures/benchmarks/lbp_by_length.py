"""LongBench Pro scores against plasticity: one path per model, from 8K to 128K tokens; one panel per prompt mode."""

import pandas as pd

from boundpaper.figures import Annotation, Axis, Figure, Line, Panel
from boundpaper.store.paper_vocabulary import words


def figure(lbp_lengths: pd.DataFrame, matched_models: pd.DataFrame) -> Figure:
    """Return the figure."""
    binned = lbp_lengths[lbp_lengths["plasticity"].notna()].sort_values("position")
    models = [model for model in matched_models["model"] if model in set(binned["model"])]
    absent = matched_models.loc[~matched_models["model"].isin(models), "display_name"]
    low, high = binned["plasticity"].min() - 0.04, binned["plasticity"].max() + 0.02
    panels = [
        Panel(
            series=[_path(rows[rows["model"] == model]) for model in models],
            x=Axis(label="plasticity", low=low, high=high),
            y=Axis(label="LongBench Pro score", low=0, high=60, ticks=[0, 20, 40, 60]),
            title=f"Prompts {label}",
            annotations=[
                Annotation(x=end["plasticity"], y=end["lbp"], text=end["length"].upper(), anchor="below")
                for end in (rows[rows["family"] == "Llama 3"].iloc[place] for place in (0, -1))
            ],
        )
        for label, rows in ((label, binned[binned["mode"] == mode]) for mode, label in words("mode").items())
    ]
    questions = lbp_lengths["questions"].iloc[0]
    scores = lbp_lengths.pivot(index=["model", "mode"], columns="length", values="lbp")
    fallen = (scores["128k"] < scores["8k"]).sum()
    return Figure(
        panels=panels,
        columns=2,
        height=62,
        legend="none",
        share_y=True,
        letters=True,
        caption=(
            "Score and plasticity of a model both fall as the input grows; that more plastic models score higher at "
            f"one length is not seen. {len(models)} models, one path each, a mark at every doubling from 8K to 128K "
            "tokens [@shcherb2026; @longbenchpro2026]; all as reported (hollow marks). Not drawn, since no plasticity "
            f"is reported for them: {', '.join(absent)}, and scores at 256K. With {', '.join(absent)}, {fallen} of "
            f"{len(scores)} scores fall from 8K to 128K. Unit: one model; {questions} questions per length."
        ),
        short="LongBench Pro against plasticity, by input length",
    )


def _path(rows: pd.DataFrame) -> Line:
    """Return the path of a model over the lengths."""
    name, model = rows["display_name"].iloc[0], rows["model"].iloc[0]
    return Line(entity=model, x=rows["plasticity"], y=rows["lbp"], origin="reported", direct=str(name), legend=False)
