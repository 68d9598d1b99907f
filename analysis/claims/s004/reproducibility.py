"""Document 004, reproducibility: claims on the settings that section 13 gives for all experiments."""

import re

import pandas as pd

from boundpaper.claims import Verdict, claim, compare, judge, pick, quote, untestable


@claim("004, 13 Reproducibility")
def c004_rep_precision(drope_stated: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """The experiments ran in 4-bit NF4 quantization."""
    precision = drope_protocols["precision"].astype(str)
    fp16_runs, is_nf4_alone = drope_protocols[precision == "fp16"], precision == "4-bit (NF4)"
    has_nf4, has_fp4 = precision.str.contains(r"\bNF4"), precision.str.contains(r"\bFP4")
    return judge(
        bool(is_nf4_alone.all()),
        f"Of {len(precision)} runs the scripts load {len(fp16_runs)} in fp16 (experiments "
        f"{', '.join(dict.fromkeys(fp16_runs['experiment']))}), {int((has_fp4 & ~has_nf4).sum())} in FP4, "
        f"{int(is_nf4_alone.sum())} in NF4, and {int((has_fp4 & has_nf4).sum())} with one model in each; "
        f"{int((precision == '4-bit').sum())} names no type.",
        reported=quote(drope_stated, statement="s13_bits").printed,
        recomputed=f"{int(is_nf4_alone.sum())} of {len(precision)} in NF4",
        n=len(precision),
    )


@claim("004, 13 Reproducibility, parameter table")
def c004_rep_length(
    drope_parameters: pd.DataFrame, drope_protocols: pd.DataFrame, context_cells: pd.DataFrame
) -> Verdict:
    """Sequences have 512 tokens."""
    reported = quote(drope_parameters, parameter="sequence_length")
    runs_in_tokens = drope_protocols[drope_protocols["items"].str.contains("tokens")]
    return judge(
        runs_in_tokens.empty,
        f"That is the limit of some runs; experiments {' and '.join(dict.fromkeys(runs_in_tokens['experiment']))} use "
        f"{'; '.join(runs_in_tokens['items'])}, and Experiment 10 contexts of {context_cells['context'].min()} to "
        f"{context_cells['context'].max()}.",
        reported=reported.printed,
        recomputed=f"up to {context_cells['context'].max()}",
        n=len(drope_protocols),
    )


@claim("004, 13 Reproducibility, parameter table")
def c004_rep_texts(drope_parameters: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """Ten texts are sampled."""
    reported = quote(drope_parameters, parameter="text_samples")
    counts = {}
    for _, row in drope_protocols.iterrows():
        if match := re.match(r"(\d+) (?:\w+ )?(?:texts|prompts|paragraphs|sentences)", str(row["items"])):
            counts[str(row["section"])] = int(match[1])
    other_counts = {section: count for section, count in counts.items() if count != reported.number}
    return judge(
        not other_counts,
        f"Ten in {len(counts) - len(other_counts)} of {len(counts)} runs on texts; otherwise "
        f"{', '.join(f'{count} in section {section}' for section, count in other_counts.items())}.",
        reported=reported.printed,
        recomputed=f"{min(counts.values())} to {max(counts.values())}",
        n=len(counts),
    )


@claim("004, 13 Reproducibility, parameter table", failure="unit")
def c004_rep_seeds(drope_parameters: pd.DataFrame, drope_protocols: pd.DataFrame) -> Verdict:
    """Ten random seeds are used."""
    reported = quote(drope_parameters, parameter="random_seeds")
    match = re.search(r"seeds (\d+)-(\d+)", str(pick(drope_protocols, experiment="2")["items"]))
    seed_count = int(match[2]) - int(match[1]) + 1 if match else 0
    unseeded_runs = drope_protocols[drope_protocols["note"].str.contains("unseeded")]
    return judge(
        seed_count == reported.number and unseeded_runs.empty,
        f"{seed_count} seeds serve the random control of Experiment 2 only; the {len(unseeded_runs)} runs of "
        f"Experiment {', '.join(dict.fromkeys(unseeded_runs['experiment']))} are unseeded, so their prompts cannot be "
        "drawn again.",
        otherwise="not supported",
        reported=reported.printed,
        recomputed=f"{seed_count} in one experiment",
        n=len(drope_protocols),
    )


@claim("004, 13 Reproducibility, parameter table")
def c004_rep_threshold(drope_parameters: pd.DataFrame, drope_stated: pd.DataFrame) -> list[Verdict]:
    """The threshold of massive values is five times the mean in all sections."""
    reported = quote(drope_parameters, parameter="massive_threshold")
    sections = {"1.1": "s1_1_threshold", "2.1": "s2_1_threshold", "3.1": "s3_1_threshold"}
    return [
        compare(
            reported,
            cell.number,
            reason=f"That section has {cell.printed}.",
            places=1,
            key=key,
            statement=f"Section {section} has the same threshold of massive values.",
            kind="cell check",
        )
        for section, key in sections.items()
        for cell in [quote(drope_stated, statement=key)]
    ]


@claim("004, 13 Reproducibility")
def c004_rep_hardware(drope_stated: pd.DataFrame) -> Verdict:
    """The graphics card has 24 GB."""
    return untestable(
        "No artifact records the machine; the manifests of the runs, which are not published, would decide it.",
        reported=quote(drope_stated, statement="s13_gpu_memory").printed,
    )
