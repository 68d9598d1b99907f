"""Compare measured models from Python, given as rows in memory or as names of stored measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.errors import DataError
from boundpaper.places import project_or_none

if TYPE_CHECKING:
    import pandas as pd

    from keyquery.comparisons.comparison import Comparison
    from keyquery.comparisons.measured import ModelMeasurements


def compare(
    reference: pd.DataFrame | str | Sequence[pd.DataFrame],
    *models: pd.DataFrame | str | Sequence[pd.DataFrame],
    experiments: Sequence[str] = (),
    by: str | None = None,
    metrics: Sequence[str] = (),
    folder: str | Path | None = None,
) -> Comparison:
    """Compare measured models with a reference by tests, paired if possible; p values are corrected as one family.

    Parameters
    ----------
    reference : DataFrame, sequence of DataFrame, or str
        Rows of one model from `run` or `analyse`, or the name of the model's stored measurements.
    *models : DataFrame, sequence of DataFrame, or str
        Models to compare with the reference, in the same forms.
    experiments : sequence of str
        Experiments to compare; if empty, all experiments that were run on every model.
    by : {"text", "item", "seed", "head"}, optional
        The unit to pair by; by default texts or items if the rows name them, else seeds, else heads.
    metrics : sequence of str
        Metrics to compare, in all their conditions, instead of the default ones.
    folder : str or Path, optional
        Folder in which names are looked up; by default the project, or outside a project the working directory.

    Raises
    ------
    DataError
        If models were measured with different settings, nothing can be paired, or no test can reach p < .05.

    Examples
    --------
    >>> import keyquery as kq
    >>> first, second = (kq.run("layer_content", name, texts=6, items=0) for name in ("tiny-rope", "tiny-drope"))
    >>> comparison = kq.compare(first, second)
    >>> comparison.models, comparison.frame["p_value"].tolist()
    (('tiny-rope', 'tiny-drope'), [0.03125])
    """
    import pandas as pd

    from keyquery.comparisons.comparison import compare_models
    from keyquery.comparisons.measured import read

    root = Path(folder) if folder is not None else project_or_none() or Path.cwd()
    measurements = [
        read(root, model, experiments)
        if isinstance(model, str)
        else _measurements_of([model] if isinstance(model, pd.DataFrame) else list(model))
        for model in (reference, *models)
    ]
    return compare_models(measurements, experiments, by=by, metrics=metrics)


def _measurements_of(frames: Sequence[pd.DataFrame]) -> ModelMeasurements:
    """Return one model's measurements from the rows that `run` and `analyse` returned.

    Raises DataError if a frame lacks its manifest, was changed, or belongs to another model than the first frame.
    """
    from keyquery.comparisons.measured import OF_HEADS, ModelMeasurements
    from keyquery.measure.measurements import save
    from keyquery.measure.units import as_text, as_tidy
    from keyquery.saved import origin_of

    frame_origins = [origin_of(frame) for frame in frames]
    names = list(dict.fromkeys(origin.name for origin in frame_origins))
    if not names:
        raise DataError("a model has no rows; pass rows from run() or analyse(), or the name of measurements")
    if len(names) > 1:
        raise DataError(f"rows of {names[0]} and {names[1]} are given as one model; give a list of rows for each")
    origins = {name: origin for origin in frame_origins for name in origin.tables if name in (OF_HEADS, origin.shown)}
    tables = {name: as_tidy(name, as_text(origin.tables[name].to_csv(index=False))) for name, origin in origins.items()}

    def copy(paper: Path, experiments: Sequence[str]) -> None:
        for name in experiments:
            save(paper, {name: origins[name].tables[name]}, names[0], origins[name].manifest)

    manifests = {name: origin.manifest for name, origin in origins.items()}
    return ModelMeasurements(names[0], tables, manifests, copy)
