"""Define the kinds of steps: where each kind is written, which files it makes, and its builder."""

from dataclasses import dataclass

from boundpaper.store.paths import DOCUMENTS, SCHEMA, VOCABULARY

VOCABULARY_TABLES = f"{VOCABULARY}: tables"
"""Placeholder in `extra_inputs` for the source tables that the vocabulary names."""


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    Attributes
    ----------
    name : str
        Steps are called `name:step`.
    builder : str
        `module:function`, imported when a step runs; takes a `Job`, returns contents by target path.
    folder, pattern : str
        Where the files of steps are; files and folders whose name begins with `_` define no steps.
    function : str or None
        Name of the function that is the step; "" if every public function is a step; None if the file is not Python.
    declared : str
        The class that declares a step, as in `name = Cells(...)`; empty if steps cannot be declared.
    targets : tuple of str
        Files that a step makes, with `{name}`; a builder may return more.
    artifact : str
        The artifact that a step makes or checks, with `{name}`; empty if there is none.
    calls : str
        `module:function` that lists the calls in a template of this kind.
    extra_inputs : tuple of str
        Patterns of further files that every step depends on (templates, settings), or `VOCABULARY_TABLES`.
    follows : str
        Another kind; each step of that kind is followed by a step of this kind with the same name.
    single : str
        For a kind with one step: its file, or the dotted name of the module that makes it.
    step : str
        For a kind with one step: its name.
    gathers : tuple of str
        Kinds whose steps must all be built before a step of this kind. An unreadable file of these kinds is a fault of
        the step, which would otherwise lack some of these steps.
    is_folder : bool
        Whether a step is a folder instead of a file.
    checks : bool
        Whether steps check an artifact against the data package, and so depend on its files.
    in_thread : bool
        Whether steps may run in a thread beside others (only if an outside program does the work).
    in_process : bool
        Whether steps may run in other processes: the builder has no effect but its return value.
    prepare : str
        `module:function`, called with the paper's folder when a build with a first step of this kind begins, to run
        outside programs early.
    """

    name: str
    builder: str
    folder: str = ""
    pattern: str = "**/*.py"
    function: str | None = None
    declared: str = ""
    targets: tuple[str, ...] = ()
    artifact: str = ""
    calls: str = ""
    extra_inputs: tuple[str, ...] = ()
    follows: str = ""
    single: str = ""
    step: str = ""
    gathers: tuple[str, ...] = ()
    is_folder: bool = False
    checks: bool = False
    in_thread: bool = False
    in_process: bool = False
    prepare: str = ""


KINDS = (
    Kind(
        name="source",
        builder="boundpaper.build.source:build",
        folder="artifacts/sources",
        pattern="*.csv",
        targets=("out/checked/{name}.json",),
        artifact="artifacts/sources/{name}.csv",
        checks=True,
        in_process=True,
    ),
    Kind(
        name="measurement",
        builder="boundpaper.build.source:build",
        folder="artifacts/measurements",
        pattern="*",
        targets=("out/checked/{name}.json",),
        artifact="artifacts/measurements/{name}",
        is_folder=True,
        checks=True,
        in_process=True,
    ),
    Kind(
        name="result",
        builder="boundpaper.build.result:build",
        folder="analysis/studies",
        function="",
        targets=("artifacts/results/{name}.csv", "out/checked/{name}.json"),
        artifact="artifacts/results/{name}.csv",
        extra_inputs=(DOCUMENTS, VOCABULARY, VOCABULARY_TABLES),
        in_process=True,
    ),
    Kind(
        name="claim",
        builder="boundpaper.claims.build:build",
        folder="analysis/claims",
        function="",
        declared="Cells",
        targets=("out/claims/{name}.json",),
        extra_inputs=(DOCUMENTS, VOCABULARY, VOCABULARY_TABLES),
        in_process=True,
    ),
    Kind(
        name="ledger",
        builder="boundpaper.claims.ledger:build",
        single="boundpaper.claims.ledger",
        step="claims",
        targets=("artifacts/results/{name}.csv",),
        artifact="artifacts/results/{name}.csv",
        gathers=("claim",),
    ),
    Kind(
        name="places",
        builder="boundpaper.claims.places:build",
        single="boundpaper.claims.places",
        step="claim_places",
        targets=("artifacts/results/{name}.csv",),
        artifact="artifacts/results/{name}.csv",
        gathers=("claim",),
        extra_inputs=("paper/chapters/*.tex.j2", "artifacts/sources/claim_anchors.csv"),
    ),
    Kind(
        name="inventory",
        builder="boundpaper.build.provenance:build",
        single="boundpaper.build.provenance",
        step="provenance",
        targets=("artifacts/results/{name}.csv",),
        artifact="artifacts/results/{name}.csv",
        gathers=("source", "measurement", "result", "ledger", "places"),
        extra_inputs=(SCHEMA, "artifacts/measurements/*/*.json"),
        in_process=True,
    ),
    Kind(
        name="table",
        builder="boundpaper.tables.build:build",
        folder="tables",
        function="table",
        targets=("out/tables/{name}.tex",),
        extra_inputs=("boundpaper/tables/templates/*", VOCABULARY),
        in_process=True,
    ),
    Kind(
        name="figure",
        builder="boundpaper.figures.build:build",
        folder="figures",
        function="figure",
        targets=("out/figures/{name}.tex", "out/figures/{name}.float.tex"),
        extra_inputs=("boundpaper/figures/templates/*", VOCABULARY, VOCABULARY_TABLES),
        in_process=True,
    ),
    Kind(
        name="picture",
        builder="boundpaper.paper.tex.figure_pdf:build",
        follows="figure",
        targets=("out/figures/{name}.pdf",),
        in_thread=True,
        prepare="boundpaper.paper.tex.figure_pdf:prepare",
    ),
    Kind(
        name="chapter",
        builder="boundpaper.paper.chapter:build",
        folder="paper/chapters",
        pattern="*.tex.j2",
        targets=("out/chapters/{name}.tex",),
        calls="boundpaper.paper.calls:dependencies",
        extra_inputs=("paper/metadata.yaml", VOCABULARY),
        in_process=True,
    ),
    Kind(
        name="thesis",
        builder="boundpaper.paper.document:build",
        single="boundpaper.paper.document",
        step="thesis",
        targets=("out/thesis.tex", "out/thesis.pdf"),
        prepare="boundpaper.paper.document:prepare",
        gathers=("chapter",),
        extra_inputs=(
            *("paper/preamble.tex", "paper/thesis.tex.j2", "boundpaper/paper/templates/*"),
            *("paper/references.bib", "paper/metadata.yaml", "CITATION.cff", "out/edition.json"),
        ),
    ),
)
