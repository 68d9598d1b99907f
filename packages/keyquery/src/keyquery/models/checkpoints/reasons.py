"""Explain in one line why a model could not be loaded, and how to fix it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from boundpaper.errors import MissingDependency, ModelError
from keyquery.models.checkpoints.memory import exhausted
from keyquery.models.libraries import version

NUMBERS = re.compile(r"(theta|factor|size|_dim|heads?|layers|eps|embeddings|window|scal\w*|_id)$")  # names of settings
MAX_SHOWN = 3  # maximal number of settings that an error names


@contextmanager
def explain_failure(name: str, revision: str | None = None) -> Iterator[None]:
    """In a `with` block, turn a library's error while loading `name` into a one-line ModelError with a remedy."""
    try:
        yield
    except (ModelError, MissingDependency, KeyboardInterrupt):
        raise
    except Exception as error:
        causes = list(_error_chain(error))
        if any(map(exhausted, causes)):
            raise ModelError(
                f"{name}: its weights do not fit in memory; give --dtype bf16 or --quantize nf4; or `capture --stream`"
            ) from error
        raise ModelError(f"{name}: {_likely_reason(name, revision, causes)}") from error


def _error_chain(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _likely_reason(name: str, revision: str | None, causes: list[BaseException]) -> str:
    kinds = {type(cause).__name__ for cause in causes}
    text = " ".join(str(cause) for cause in causes)
    local = Path(name).is_dir()
    if "GatedRepoError" in kinds or "gated repo" in text:
        return "the model is gated; accept its licence on its Hub page, then run: hf auth login"
    if not local and kinds & {"LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectionError", "ConnectError"}:
        return "not in the Hub's cache and the Hub cannot be reached; connect, or give the path of a local folder"
    if not local and (kinds & {"RepositoryNotFoundError", "HFValidationError"} or "not a valid model id" in text):
        return "neither a local folder nor a model on the Hub (for a private one, run: hf auth login)"
    if "RevisionNotFoundError" in kinds:
        return f"no revision {revision!r}; its Hub page lists them"
    if local and not (Path(name) / "config.json").is_file():
        return "the folder has no config.json; give the folder that a model was saved to"
    if "SafetensorError" in kinds or ("header" in text.lower() and "safetensors" in text.lower()):
        return "a weight file is damaged or cut short; download it again"
    if "safetensors" in text and ("no file named" in text or "does not appear to have a file named" in text):
        return "no safetensors weights; other formats can run code when loaded, convert them first"
    if "trust_remote_code" in text:
        return (
            "the checkpoint brings its own code; read it, then give --trust-remote-code, or load its weights into a "
            "plain class (load_as and position)"
        )
    if "Unrecognized configuration class" in text:
        return (
            f"its architecture{_model_type(name)} is not a causal language model (but an encoder, or an encoder with a "
            "decoder), and only those are measured here"
        )
    if "does not recognize this architecture" in text or "Unrecognized model" in text or "Unrecognized config" in text:
        kind = _model_type(name)
        return f"transformers {version('transformers')} does not know its architecture{kind}; a newer one may"
    if "okenizer" in text and local:
        return "its tokenizer cannot be loaded; tokenizer.json or its kind must lie in the folder"
    first_line = (str(causes[0]) or type(causes[0]).__name__).strip().splitlines()[0]
    if isinstance(causes[0], LookupError | TypeError | AttributeError | ArithmeticError | AssertionError):
        message = f"{type(causes[0]).__name__}: {first_line}"
        suspects = ", ".join(_suspect_settings(name, causes[0]))
        advice = f"check {suspects}" if suspects else "one of its settings has a type that the class does not accept"
        return f"config.json does not fit the class of its model_type{_model_type(name)} ({message}); {advice}"
    return first_line


def _raw_config(folder: str) -> dict[str, Any]:
    try:
        config = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def _suspect_settings(folder: str, error: BaseException) -> list[str]:
    """Return settings of config.json that may be wrong: the error names their value, or a number is given as text."""
    suspects = []
    for key, value in _flat_settings(_raw_config(folder)):
        missing_key = isinstance(error, KeyError) and bool(error.args) and value == error.args[0]
        text_for_number = isinstance(value, str) and NUMBERS.search(key) is not None
        if missing_key or text_for_number:
            suspects.append(f"{key} = {value!r}")
    return suspects[:MAX_SHOWN]


def _flat_settings(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat_settings(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _model_type(folder: str) -> str:
    kind = _raw_config(folder).get("model_type")
    return f" ({kind})" if kind else ""
