"""Document 004, Experiment 1: checks of derived cells, and of the coordinates of Figures A and B."""

from analysis.vocabulary import PAIR
from boundpaper.claims import Artifact, Cells, Relation, Repeats
from boundpaper.claims.terms import percent_change

TENSORS = ("query", "key", "value")
COUNTS = Artifact("drope_massive_counts", "the table of counts")
LAYER1 = Artifact("drope_layer1_massive")
FIGURES = Artifact("drope_figures")


c004_massive_change_cells = Cells(
    "The changes in the table of counts follow from its means.",
    "004, 2.2 Results",
    Relation(
        each={"tensor": TENSORS},
        cell=COUNTS(tensor="{tensor}", positional="DroPE", metric="change_from_rope"),
        follows=percent_change(
            COUNTS(tensor="{tensor}", positional="RoPE", metric="count_mean"),
            COUNTS(tensor="{tensor}", positional="DroPE", metric="count_mean"),
        ),
        because="{1} against {0}.",
        places=2,
        key="{tensor}",
        says="The change of the {tensor} count is DroPE's mean over RoPE's, minus one.",
    ),
)

c004_layer1_counts = Cells(
    "The counts of layer 1 are those of the published layers.",
    "004, 2.3 Layer 1 Anomaly",
    Relation(
        each={"model": PAIR},
        cell=LAYER1(layers="1", positional="{model}", metric="count"),
        follows=Artifact("massive_layer_summary").value("layer1_{model!l}", tensor="query"),
        because="The published count of massive query values in layer 1; the table names no tensor.",
        key="{model}",
        says="The count of layer 1 of {model} equals the published one of the queries.",
    ),
)

c004_later_layers_from_totals = Cells(
    "The fall of the later layers agrees with the totals once layer 1 is taken out.",
    "004, 2.2 Results and 2.3 Layer 1 Anomaly",
    Relation(
        cell=LAYER1(layers="2-31", positional="DroPE", metric="change_from_rope"),
        follows=percent_change(
            *(
                COUNTS(tensor="query", positional=model, metric="count_mean")
                - LAYER1(layers="1", positional=model, metric="count")
                for model in PAIR
            )
        ),
        because="Query totals without layer 1: {2} - {3} (DroPE) against {0} - {1} (RoPE), layer 0 included.",
        key="query",
    ),
)

c004_figure_a = Cells(
    "The coordinates and error bars of Figure A are the means and deviations of the table.",
    "004, 15 Publication Figures, Figure A",
    Relation(
        each={"model": PAIR, "tensor": TENSORS, "metric": ("count_mean", "count_sd")},
        cell=FIGURES(figure="A", series="{model}", x="{tensor!c}", metric="{metric}"),
        follows=COUNTS(tensor="{tensor}", positional="{model}", metric="{metric}"),
        because="The table prints {0}.",
        key="{model}-{tensor}-{metric}",
        says="Figure A draws {model}, {tensor}, {metric} as in the table.",
    ),
)

c004_figure_b = Cells(
    "The coordinates of Figure B are the counts of layer 1.",
    "004, 15 Publication Figures, Figure B",
    Relation(
        each={"model": PAIR, "tensor": TENSORS},
        cell=FIGURES(figure="B", series="{model}", x="{tensor!c}", metric="count"),
        follows=Artifact("massive_layers").value("{model!l}", tensor="{tensor}", layer=1),
        because="The published {tensor} count of layer 1 of {model} is {0:.1f}.",
        key="{model}-{tensor}",
        says="Figure B draws the {tensor} count of layer 1 of {model}.",
    ),
)

c004_figure_a_caption = Cells(
    "The caption of Figure A repeats the changes of the table.",
    "004, 15 Publication Figures, Figure A",
    Repeats(
        Artifact("drope_captions"),
        {
            f"fig_a_{tensor}_change": COUNTS(tensor=tensor, metric="change_from_rope").by(
                f"c004_massive_change_cells.{tensor}"
            )
            for tensor in ("query", "key")
        },
    ),
)
