"""Surveys of a subject's texts: one forward per text, shared by the experiments that use it."""

import functools
import hashlib
from typing import Literal

from keyquery.measure.cache import Form, cache_name, cached
from keyquery.measure.subject import Options, Subject
from keyquery.models.surveys.forward import SurveyOptions, survey
from keyquery.models.surveys.record import TextSurvey, load, save

SURVEY = Form(".npz", load, save)


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
    by_text = []
    for text in subject.texts(options, kind):
        digest = hashlib.blake2b(text.tokens.numpy().tobytes(), digest_size=8).hexdigest()
        asked = {"text": digest, "id": text.id, "options": wanted, "identity": subject.identity}
        one = functools.partial(survey, subject.model, text.tokens, wanted, text=text.id)
        if subject.identity:
            by_text.append(cached(cache_name(surveys, asked), one, subject.folder, SURVEY)[0])
        else:
            by_text.append(one())
    return by_text
