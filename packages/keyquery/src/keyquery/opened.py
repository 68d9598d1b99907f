"""Open a model from Python for measuring, capturing and intervening, in any working directory."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from boundpaper.places import project_or_none
from boundpaper.store.files import process_folder
from keyquery.models.checkpoints.loading import AS_CONFIGURED, ModelSource

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from keyquery.measure.subject import Subject
    from keyquery.models.interventions import Intervention


def working_folder() -> Path:
    """Return the folder for files that later runs may reuse: the project, else a folder of the user's cache."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return project_or_none() or caches / "keyquery"


@dataclass(frozen=True)
class Model:
    """A loaded model; `load` returns one.

    Attributes
    ----------
    subject : Subject
        The model as experiments use it: weights, tokenizer, language, position encoding.
    source : ModelSource
        Where the model was loaded from, and with which options.

    Examples
    --------
    >>> import keyquery as kq
    >>> model = kq.load("tiny-rope")
    >>> model.name, model.positional, model.layers
    ('tiny-rope', 'rope', 5)
    """

    subject: Subject
    source: ModelSource

    @property
    def name(self) -> str:
        """Name under which the model's measurements are stored."""
        return self.subject.name

    @property
    def positional(self) -> str:
        """The model's position encoding, such as `rope`."""
        return self.subject.positional

    @property
    def layers(self) -> int:
        """Number of decoder blocks."""
        return self.subject.layers

    @property
    def network(self) -> PreTrainedModel:
        """The transformers model, in evaluation mode."""
        return self.subject.model

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The model's tokenizer."""
        return self.subject.tokenizer

    def perplexity(self, text: str) -> float:
        """Return the perplexity of a text: the exponential of the mean loss over every token but the first.

        Parameters
        ----------
        text : str
            A text in a language that the model knows.

        Raises
        ------
        DataError
            When the text has fewer than two tokens.

        Examples
        --------
        >>> import keyquery as kq
        >>> kq.load("tiny-rope").perplexity("Anna likes Ben .") > 1
        True
        """
        from keyquery.models.answers.likelihood import token_nats

        return math.exp(float(token_nats(self.network, self.subject.encode(text)).mean()))

    def __repr__(self) -> str:
        return f"<Model {self.name}: {self.layers} layers, {self.positional}, {self.subject.precision}>"


def load(
    name: str,
    *,
    revision: str | None = None,
    dtype: str = "auto",
    quantize: str | None = None,
    device: str = "auto",
    position: str = AS_CONFIGURED,
    load_as: str | None = None,
    scaling: float | None = None,
    bos: bool = False,
    trust_remote_code: bool = False,
) -> Model:
    """Load a model, given by the name of a shipped model, a folder, a GGUF file or a Hub id.

    The options are those of the command line; see `keyquery.models.checkpoints.loading.ModelSource`.

    Parameters
    ----------
    name : str
        A shipped name (`tiny-rope`), a folder, a GGUF file, or a Hub id.
    revision : str or None
        A branch, tag or commit of a Hub id.
    dtype : {"auto", "bf16", "fp16", "fp32"}
        Number type of weights and activations; "auto" is the checkpoint's type.
    quantize : {"nf4", "fp4", "int8"} or None
        Quantization of weights by bitsandbytes.
    device : str
        "auto" (the GPUs, else the CPU), "cpu", "cuda", "cuda:1", "mps".
    position : {"as configured", "rope", "drope"}
        Position encoding; "rope" and "drope" override the checkpoint's.
    load_as : str or None
        A model type of transformers, for a checkpoint of a custom class.
    scaling : float or None
        Factor on q.k, instead of the class's default.
    bos : bool
        Add the beginning-of-sequence token to every text.
    trust_remote_code : bool
        Run code that comes with the checkpoint.

    Raises
    ------
    ModelError
        If the model is missing, of an unknown architecture, or contradicts the options.
    MissingDependency
        When torch or transformers are not installed.

    Examples
    --------
    >>> import keyquery as kq
    >>> kq.load("tiny-drope")
    <Model tiny-drope: 5 layers, drope, fp32>
    """
    from keyquery.measure.run import WORK_FOLDER, fit_threads
    from keyquery.measure.subject import open_subject

    source = ModelSource(
        name,
        revision,
        dtype,
        quantize,
        device=device,
        trust_remote_code=trust_remote_code,
        position=position,
        load_as=load_as,
        scaling=scaling,
        bos=bos,
    )
    root = project_or_none()
    work_folder = root / WORK_FOLDER if root else process_folder()
    subject = open_subject(working_folder(), source, folder=work_folder / "answers")
    fit_threads(subject)
    return Model(subject, source)


@contextmanager
def intervene(model: Model, *interventions: Intervention) -> Iterator[Model]:
    """Change outputs of parts of a model in every forward pass of a `with` block; the model is restored afterwards.

    Parameters
    ----------
    model : Model
        The model.
    interventions : Intervention
        Changes to apply; several on one part act in the given order.

    Raises
    ------
    ModelError
        If a layer does not exist, a mask does not fit, or the model does not expose the part.

    Examples
    --------
    >>> import keyquery as kq
    >>> model = kq.load("tiny-rope")
    >>> text, before = "Anna likes Ben .", model.perplexity("Anna likes Ben .")
    >>> with kq.intervene(model, kq.Intervention("mlp", "zero", layers=(1,))):
    ...     changed = model.perplexity(text)
    >>> changed == before, model.perplexity(text) == before
    (False, True)
    """
    from keyquery.models.interventions import applied

    with applied(model.network, interventions):
        yield model
