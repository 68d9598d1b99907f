"""Claims of the thesis on the two captures of one text network in the layer study."""

import pandas as pd

from analysis.claims._shared import min_to_max
from boundpaper.claims import Verdict, claim, judge, pick

PAIR = ("llama3.1-8b", "llama3.2-11b")


@claim("thesis, Do layers without positions cause the dip?")
def thesis_nope_same_layers(nope_depth_tests: pd.DataFrame, nope_layer_cells: pd.DataFrame) -> Verdict:
    """No layer whose plasticity recovers most in one capture of the shared text network is among those of the other."""
    row = pick(nope_depth_tests, comparison="layers in both fives")
    size = int((nope_layer_cells["model"] == PAIR[0]).sum())
    return judge(
        row["estimate"] == 0,
        f"{row['estimate']:.0f} of {size} text layers are in both lists, {row['statistic']:.1f} would by chance (as "
        f"few or fewer with p = {row['p_value']:.2f}).",
        recomputed=f"{row['estimate']:.0f} of {size}",
        n=size,
        p_value=float(row["p_value"]),
    )


@claim("thesis, Do layers without positions cause the dip?")
def thesis_nope_layer_noise(nope_layer_pairs: pd.DataFrame, nope_twins: pd.DataFrame) -> Verdict:
    """Single layers of the shared text network differ between the captures by more than the whole profiles do."""
    rows = nope_layer_pairs
    mean = pick(nope_twins, quantity="decile_mean")["value"]
    return judge(
        bool(rows["gap"].min() > mean),
        f"For the {len(rows)} text layers of which both captures print something, the overall plasticities differ by "
        f"at least {rows['gap'].min():.3f} and {rows['gap'].max():.3f}; their recoveries are "
        f"{rows['recovery'].min():.3f} and {rows['recovery'].max():.3f}, and the whole profiles differ by {mean:.3f} "
        "on average.",
        recomputed=min_to_max(rows["gap"]),
        n=len(rows),
    )
