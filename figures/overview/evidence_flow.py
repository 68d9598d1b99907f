"""The stages that one number passes through in the thesis, from a model to a verdict."""

import pandas as pd

from boundpaper.figures import Figure

ITEM, CLAIM = "keys_far_4x", "thesis_population_every.keys_far_4x"
BOX = r"\node[draw=black!50, rounded corners=1pt, minimum width=23.4mm, minimum height=19mm]"
TEXT = r"\node[anchor=north, align=center, text width=21mm, inner sep=0pt]"


def figure(population_contrasts_every: pd.DataFrame, claims: pd.DataFrame) -> Figure:
    """Return the figure; the example number is the primary contrast of the population."""
    row = population_contrasts_every.set_index("item").loc[ITEM]
    boxes = {
        "model": "weights of an arm, trained by a command",
        "measurement": "passkeys found, a file that a manifest seals",
        "result": f"{100 * row['mean_first']:.1f} and {100 * row['mean_second']:.1f} of 100",
        "exhibit": f"a cell: {100 * row['difference']:.1f} points",
        "claim": "a sentence, bound to the cell",
        "verdict": str(claims.set_index("claim").loc[CLAIM, "verdict"]),
    }
    lines = [r"\begin{tikzpicture}[x=25.8mm, font=\footnotesize, >=stealth]"]
    for index, (name, text) in enumerate(boxes.items()):
        lines.append(f"{BOX} (n{index}) at ({index},0) {{}};")
        lines.append(f"{TEXT} at ({index},8mm) {{\\textbf{{\\strut {name}}}\\\\ \\scriptsize {text}}};")
    lines += [f"\\draw[->] (n{index}) -- (n{index + 1});" for index in range(len(boxes) - 1)]
    lines.append(r"\end{tikzpicture}")
    return Figure(
        body="\n".join(lines),
        caption=(
            "From a model to a verdict: the way of one number, far passkeys found by arms C and B at four training "
            "lengths. Each arrow is a function of the repository whose parameters name what it reads, so that a change "
            "on the left is followed to the right, and a printed number leads back to its measurement. Numbers are "
            "rounded after they are computed."
        ),
        short="From a model to a verdict, by the way of one number",
    )
