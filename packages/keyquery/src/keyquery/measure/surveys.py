"""Survey a subject's texts: one forward pass per text, shared by all experiments that need it."""

import sys
import time
from functools import partial
from typing import Literal

from keyquery.measure.bar import duration
from keyquery.measure.cache import FileForm, cache_name, cached
from keyquery.measure.subject import Options, Subject, Text
from keyquery.models.surveys.forward import SurveyOptions, survey_text
from keyquery.models.surveys.record import TextSurvey, load, save

SURVEY = FileForm(".npz", load, save)
LONG = 8192  # tokens; before longer texts are surveyed, the expected time is printed
TRIAL_PART = 16  # the time is estimated from a survey of the first 16th of a text


def surveys(
    subject: Subject, options: Options, kind: str | None = None, where: Literal["pre", "post"] = "pre"
) -> list[TextSurvey]:
    """Return the survey of each text; surveys of an earlier run or experiment are reused.

    `kind` is one of the book's kinds of texts (None: the first); `where` says whether norms of queries and keys are
    taken before or after the rotary embedding. Raises ModelError if the architecture does not expose a measured
    quantity.
    """
    survey_options = SurveyOptions(where=where, bos=subject.tokenizer.bos_token_id)
    texts, text_surveys, may_print = subject.texts(options, kind), [], True

    def survey(text: Text) -> TextSurvey:
        nonlocal may_print
        if may_print and text.tokens.shape[1] > LONG:
            print(_expected_time(subject, text, len(texts), survey_options), file=sys.stderr)
        may_print = False
        return survey_text(subject.model, text.tokens, survey_options, text=text.id)

    for text in texts:
        if subject.identity:
            arguments = {"text": text.digest, "id": text.id, "options": survey_options, "identity": subject.identity}
            name = cache_name(surveys, arguments)
            text_surveys.append(cached(name, partial(survey, text), subject.folder, SURVEY)[0])
        else:
            text_surveys.append(survey(text))
    return text_surveys


def _expected_time(subject: Subject, text: Text, count: int, survey_options: SurveyOptions) -> str:
    """Return a line on how long surveys of long texts will take, by timing the first part of one text.

    The time of a forward pass grows at least in proportion to a text's length, and at most with its square.
    """
    length = text.tokens.shape[1]
    start = time.monotonic()
    survey_text(subject.model, text.tokens[:, : length // TRIAL_PART], survey_options, text=text.id)
    least = (time.monotonic() - start) * TRIAL_PART * count
    return (
        f"{subject.name}: surveying {count} x {length:,} tokens takes {duration(least)} to "
        f"{duration(least * TRIAL_PART)}; each intervention reads them again; a stopped run can be resumed"
    )
