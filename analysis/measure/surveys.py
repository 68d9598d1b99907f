"""Surveys of a subject's texts: one forward a text, made once and shared by the experiments that read them."""

from __future__ import annotations

import hashlib
from typing import Literal

from analysis.jobs.content import key
from analysis.measure.evaluation import code
from analysis.measure.subject import Options, Subject
from analysis.models.survey import SurveyOptions, survey
from analysis.models.text_survey import TextSurvey, load, save
from artifacts.errors import DataError

_memory: dict[str, TextSurvey] = {}


def surveys(
    subject: Subject, options: Options, kind: str | None = None, where: Literal["pre", "post"] = "pre"
) -> list[TextSurvey]:
    """The survey of each text, from an earlier run or experiment where it was made.

    Parameters
    ----------
    kind : str or None
        Kind of the book's texts; the first when None.
    where : {"pre", "post"}
        Norms of queries and keys before or after the rotary embedding.

    Raises
    ------
    ModelError
        When the architecture does not show what is measured.
    """
    wanted = SurveyOptions(where=where, bos=subject.tokenizer.bos_token_id)
    found = []
    for text in subject.texts(options, kind):
        digest = hashlib.blake2b(text.tokens.numpy().tobytes(), digest_size=8).hexdigest()
        asked = {"text": digest, "id": text.id, "options": wanted, "identity": subject.identity}
        name = key(surveys, asked, code(__name__))
        one = _memory.get(name) if subject.identity else None
        path = subject.folder / f"{name}.npz" if subject.folder is not None and subject.identity else None
        if one is None and path is not None and path.is_file():
            try:
                one = load(path)
            except DataError:  # cut off by a full disk: made anew
                one = None
        if one is None:
            one = survey(subject.model, text.tokens, wanted, text=text.id)
            if path is not None:
                save(path, one)
        if subject.identity:
            _memory[name] = one
        found.append(one)
    return found
