"""Load the model that an experiment measures, with its language, position encoding and name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boundpaper.errors import DataError, ModelError
from boundpaper.store.json_text import parsed
from boundpaper.typeset.plural import counted
from keyquery.measure.measurements import checked_name, slug, slug_of_texts
from keyquery.measure.usage import RecordingBook, UsageRecord
from keyquery.models import libraries
from keyquery.models.attention.positions import check_position_blind, positional_of
from keyquery.models.checkpoints.builtin import resolve
from keyquery.models.checkpoints.loading import AS_CONFIGURED, LoadedModel, ModelSource, load
from keyquery.models.texts import TextSource, require_source, texts
from keyquery.models.vocabulary import check_tokens
from keyquery.tasks.items import Book

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

CARD = "lab.json"
UNKNOWN_SHARE = 0.1  # share of unknown tokens above which texts are not in the model's language
LONGEST = 2048  # default tokens per text for models trained on more


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the number and source of the items and texts that an experiment uses.

    Parameters
    ----------
    texts : int
        Number of texts per seed, for surveys and perplexities.
    tokens : int or None
        Number of tokens per text; if None, the training length (at most 2,048).
    items : int
        Number of items per task and seed; with 0, ablations are judged by the loss alone.
    seeds : tuple of int
        Seeds of items and texts.
    texts_from : str or None
        File, folder, Hub id or installed texts to use instead of the book's; "imdb" and "wikitext" stand for Hub ids.

    Raises
    ------
    DataError
        If a number leaves nothing to measure.

    Examples
    --------
    >>> from keyquery.measure.subject import Options
    >>> Options(texts=2, seeds=(0, 1)).items
    100
    """

    texts: int = 10
    tokens: int | None = None
    items: int = 100
    seeds: tuple[int, ...] = (0,)
    texts_from: str | None = None

    def __post_init__(self) -> None:
        for name, number, least in (("documents", self.texts, 1), ("items", self.items, 0), ("tokens", self.tokens, 2)):
            if number is not None and number < least:
                raise DataError(f"--{name} {number}: there is nothing to measure; give {least} or more")
        if not self.seeds:
            raise DataError("--seeds is empty; give one or more, such as 0,1,2")

    def need_items(self, experiment: str) -> None:
        """Raise DataError if `--items 0` was given for an experiment that measures only items.

        Parameters
        ----------
        experiment : str
            Name of the experiment, for the error.

        Raises
        ------
        DataError
            If `items` is 0.
        """
        if not self.items:
            raise DataError(f"--items 0: {experiment} measures only answers to items; give --items 1 or more")

    def require_texts(self) -> None:
        """Raise DataError if the given file or folder of texts is missing or malformed."""
        if self.texts_source is not None:
            require_source(self.texts_source)

    @property
    def texts_source(self) -> TextSource | None:
        """Return the source of texts that the user gave; None if the book's texts are used."""
        if self.texts_from is None:
            return None
        from keyquery.tasks.english import HUB

        return TextSource(HUB.get(self.texts_from, self.texts_from))

    @property
    def published(self) -> Options:
        """Return the options for a manifest; a file or folder of texts is given by name, without the path."""
        source = self.texts_source
        return self if source is None else replace(self, texts_from=source.shown)


@dataclass(frozen=True)
class Text:
    """A text as token ids (1, T), with the beginning-of-sequence token first if the tokenizer adds one."""

    id: str
    seed: int
    tokens: Tensor

    @property
    def digest(self) -> str:
        """Hash of the token ids."""
        return hashlib.blake2b(self.tokens.numpy().tobytes(), digest_size=8).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A loaded model with its tokenizer, its items and texts, and facts about it that experiments need.

    Parameters
    ----------
    name : str
        Name of the measurements.
    model, tokenizer
        The model, in evaluation mode, and the tokenizer.
    book : Book
        Source of items and texts in a language that the model knows.
    positional, precision : str
        Position encoding ("rope", "drope", ...); number type ("fp32", "bf16", "nf4", ...).
    training_length : int
        Length in tokens of the model's training sequences.
    training_seed : int or None
        Seed of a model trained by this project.
    facts : dict
        Facts for the manifest. `fingerprint` or `revision` identifies the weights; if both are missing, nothing is
        cached.
    source : ModelSource or None
        Where the model was loaded from, with built-in names resolved; None if it was made in memory.
    folder : Path or None
        Folder for caching answers between runs; None for no cache.
    tell : callable
        Called with a line of progress for the terminal.
    used : UsageRecord
        Record of the texts and items that were used.

    Examples
    --------
    >>> import keyquery as kq
    >>> subject = kq.load("tiny-rope").subject
    >>> subject.name, subject.layers, subject.training_length
    ('tiny-rope', 5, 128)
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    book: Book
    positional: str
    precision: str = "fp32"
    training_length: int = 128
    training_seed: int | None = None
    facts: dict[str, object] = field(default_factory=dict)
    source: ModelSource | None = None
    folder: Path | None = None
    tell: Callable[[str], None] = lambda text: None
    used: UsageRecord = field(default_factory=UsageRecord)

    @property
    def identity(self) -> str | None:
        """Text that identifies the loaded weights; None if they are unknown."""
        fingerprint = self.facts.get("fingerprint") or self.facts.get("revision")
        if not fingerprint:
            return None
        settings = [f"{name} {self.facts[name]}" for name in ("load_as", "scaling", "bos") if name in self.facts]
        quantization = self.facts.get("quantization")
        settings += ["double"] * (isinstance(quantization, dict) and bool(quantization.get("double")))
        return " ".join([f"{fingerprint} {self.precision} {self.positional}", *settings])

    @property
    def layers(self) -> int:
        """Number of decoder blocks."""
        return int(self.model.config.get_text_config().num_hidden_layers)

    @property
    def has_bos(self) -> bool:
        """Whether the tokenizer adds a beginning-of-sequence token."""
        return _adds_bos(self.tokenizer)

    def texts(self, options: Options, kind: str | None = None) -> list[Text]:
        """Return texts of equal length, `options.texts` for each seed.

        Parameters
        ----------
        options : Options
            Number, length, seeds and source of the texts.
        kind : str or None
            One of the book's kinds of texts; if None, the default kind.

        Raises
        ------
        DataError
            If the source of texts is missing or too short, or more than a tenth of the tokens are unknown.
        """
        length = options.tokens or min(self.training_length, LONGEST)
        torch = libraries.torch
        source = options.texts_source
        if source is not None:
            rows = given_texts(self.name, self.tokenizer, source, length, options.texts * len(options.seeds))
            check_tokens(self.model, torch.tensor([ids for _, ids in rows]), self.tokenizer)
            self.used.add_texts(source.shown, (f"{ids}" for _, ids in rows))
            return [
                Text(name, options.seeds[number // options.texts], torch.tensor([ids]))
                for number, (name, ids) in enumerate(rows)
            ]
        kind = kind or self.book.kinds()[0]
        book_texts = [
            Text(f"{kind}-{seed}-{number}", seed, self.encode(text, length))
            for seed in options.seeds
            for number, text in enumerate(self.book.texts(kind, options.texts, length, seed, self.tokenizer))
        ]
        check_legible(
            self.name, self.tokenizer, [text.tokens[0].tolist() for text in book_texts], f"the book {self.book.name}"
        )
        return book_texts

    def encode(self, text: str, length: int | None = None) -> Tensor:
        """Return the token ids of a text, shape (1, T), truncated to `length`.

        Parameters
        ----------
        text : str
            A text in a language that the model knows.
        length : int or None
            Number of leading tokens to keep; None for all.

        Raises
        ------
        DataError
            If the text has fewer tokens than `length`.
        """
        ids = self.tokenizer(text, verbose=False)["input_ids"]
        if length is not None and len(ids) < length:
            raise DataError(f"a text of the book {self.book.name} has {len(ids)} tokens, too few for {length}")
        tensor: Tensor = libraries.torch.tensor([ids[:length]])
        check_tokens(self.model, tensor, self.tokenizer)
        return tensor


def _adds_bos(tokenizer: PreTrainedTokenizerBase) -> bool:
    ids = tokenizer("", add_special_tokens=True)["input_ids"]
    return bool(ids) and ids[0] == tokenizer.bos_token_id


def check_legible(name: str, tokenizer: Any, rows: Sequence[Sequence[int]], texts_name: str) -> None:
    """Raise DataError if more than a tenth of the tokens are unknown; `texts_name` is for the message."""
    unknown, count = tokenizer.unk_token_id, sum(map(len, rows))
    unknown_count = 0 if unknown is None else sum(list(row).count(unknown) for row in rows)
    if unknown_count > UNKNOWN_SHARE * count:
        raise DataError(
            f"{name}: its tokenizer encodes {100 * unknown_count / count:.0f} % of {texts_name} as unknown tokens; "
            "give texts in its language: --texts FILE"
        )


def given_texts(name: str, tokenizer: Any, source: TextSource, length: int, count: int) -> list[tuple[str, list[int]]]:
    """Return `count` chunks of `length` tokens: all texts' first chunks, then their second chunks, and so on.

    Chunks of one text are not independent units. Every chunk starts with the beginning-of-sequence token if the
    tokenizer adds it, and may end within a word. Raises DataError if the texts give fewer chunks, or the tokenizer of
    model `name` cannot encode them.
    """
    bos = [tokenizer.bos_token_id] if _adds_bos(tokenizer) else []
    size = length - len(bos)
    rounds: list[list[tuple[str, list[int]]]] = []
    for text_id, text in texts(source):
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        for number in range(min(len(ids) // size, count)):
            if number == len(rounds):
                rounds.append([])
            rounds[number].append((f"{text_id}#{number}", [*bos, *ids[number * size : (number + 1) * size]]))
        if rounds and len(rounds[0]) == count:
            break
    rows = list(chain.from_iterable(rounds))[:count]
    if len(rows) < count:
        raise DataError(
            f"{source.path_or_id}: only {counted(len(rows), 'text')} of {length} tokens, but {count} are asked for; "
            "give more or longer texts, or a smaller --documents or --tokens"
        )
    check_legible(name, tokenizer, [ids for _, ids in rows], source.path_or_id)
    return rows


def resolve_source(root: Path, source: ModelSource) -> tuple[ModelSource, dict[str, Any]]:
    """Return the source to load, with name and precision resolved, and the model's card if this project made it.

    Raises ModelError or DataError if the name is unknown, or the card is damaged.
    """
    path_or_id = resolve(root, source.name)
    card = _read_card(Path(path_or_id))
    is_default = source.dtype == "auto" and source.quantize is None
    return replace(source, name=path_or_id, dtype="fp32" if card and is_default else source.dtype), card


def open_subject(
    root: Path,
    source: ModelSource,
    *,
    options: Options | None = None,
    name: str | None = None,
    folder: Path | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Subject:
    """Load a model by a built-in name, a folder or a Hub id.

    Measurements get the name `name`. By default, it is made of the model, its training seed, all non-default settings
    (precision, position encoding, class, scaling, revision) and the texts if `options` name a source. A model of the
    population (with `lab.json` in the folder) gets items in the small models' language; other models get English items.
    Raises ModelError as `load` does, or if shifting positions changes the logits although the configuration makes the
    rotation the identity.
    """
    resolved_source, card = resolve_source(root, source)
    path_or_id = resolved_source.name
    is_builtin = path_or_id != source.name
    loaded_model = load(resolved_source)
    if loaded_model.tokenizer is None:
        raise ModelError(f"{source.name}: has no tokenizer, which the experiments need; save one beside the model")
    positional = positional_of(loaded_model.model)
    if positional == "drope":
        check_position_blind(loaded_model.model)
    config, seed = loaded_model.model.config.get_text_config(), card.get("training_seed")
    suffix = f"-s{seed}" if card and not is_builtin and seed else ""
    precision, used = _precision_name(loaded_model), UsageRecord()
    is_default = source.quantize is None and source.dtype == "auto"
    default_precision = "fp32" if card else precision if is_default else ""
    parts = [slug(path_or_id) + suffix]
    parts += [precision] * (precision != default_precision) + ["double"] * bool(source.quantize and source.double)
    parts += _name_parts(source, options)
    return Subject(
        name=checked_name(name or "-".join(parts)),
        model=loaded_model.model,
        tokenizer=loaded_model.tokenizer,
        book=RecordingBook(book_of(card), used),
        positional=positional,
        precision=precision,
        # scaled rotations also have `original_max_position_embeddings`, the length of earlier training
        training_length=int(card.get("training_length") or getattr(config, "max_position_embeddings", 0) or 2048),
        training_seed=seed,
        facts={**loaded_model.facts, "model": source.name},
        source=resolved_source,
        folder=folder,
        tell=tell,
        used=used,
    )


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / CARD
    try:
        card = parsed(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: not valid JSON ({error}); write the model again: python build.py lab population --export"
        ) from None
    return card if isinstance(card, dict) else {}


def _name_parts(source: ModelSource, options: Options | None) -> list[str]:
    """Return the parts of a name that say how a model is loaded and which texts it reads; empty for the defaults."""
    parts = [source.position] if source.position != AS_CONFIGURED else []
    parts += [f"as-{slug(source.load_as)}"] if source.load_as is not None else []
    parts += [f"scaling-{source.scaling:g}"] if source.scaling is not None else []
    parts += ["bos"] if source.bos else []
    parts += [f"revision-{slug(source.revision)}"] if source.revision is not None else []
    texts_from = None if options is None else options.texts_from
    return parts + ([] if texts_from is None else [f"on-{slug_of_texts(texts_from)}"])


def book_of(card: dict[str, Any]) -> Book:
    """Return the book for a model with this card; the English book if there is no card."""
    language = card.get("language")
    if language == "population":
        from keyquery.language.book import BOOK as SMALL

        return SMALL
    if language is not None:
        raise DataError(f"{CARD}: unknown language {language!r}; the only one is 'population'")
    from keyquery.tasks.english import BOOK as ENGLISH

    return ENGLISH


def _precision_name(loaded_model: LoadedModel) -> str:
    quantization = loaded_model.facts.get("quantization")
    if quantization:
        return str(quantization["type"])
    return {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}.get(str(loaded_model.facts.get("dtype")), "fp32")


def standard_deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation (ddof 1) of at least two values, else None."""
    import numpy as np

    return float(np.std(np.asarray(values, dtype=float), ddof=1)) if len(values) > 1 else None
