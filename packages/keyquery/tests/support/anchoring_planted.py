"""A planted model and its language; the model believes statements whose subject and object are on the same side."""

import random
from collections.abc import Sequence
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

import models_tiny  # no access to the Hub
from keyquery.measure.subject import Subject
from keyquery.tasks.items import Item
from models_tiny import fast_tokenizer, word_tokenizer

SUBJECTS, OBJECTS, FILLERS = 48, 4, 20  # OBJECTS of each kind: true of even subjects, of odd ones, of none
NAMES = [f"s{number}" for number in range(SUBJECTS)]
UP, DOWN, NEVER = ([f"{sign}{number}" for number in range(OBJECTS)] for sign in "udn")
FILLER = [f"f{number}" for number in range(FILLERS)]
VOCABULARY = ["<pad>", "<s>", "</s>", "<unk>", "is", "tag", ".", *NAMES, *UP, *DOWN, *NEVER, *FILLER]
WIDTH = 16
SIDE, SHOWN, TRUTH, NOBODY, SEEN = range(5)  # dimensions of the residual stream with a planted meaning


class Statements:
    """A book that contains only statements."""

    name = "planted"

    def __init__(self, objects: bool = True) -> None:
        self.objects = objects

    def tasks(self) -> Sequence[str]:
        return ("statements",)

    def kinds(self) -> Sequence[str]:
        return ()

    def texts(self, kind: str, count: int, tokens: int, seed: int, tokenizer: Any) -> list[str]:
        raise NotImplementedError

    def items(
        self, task: str, count: int, seed: int, tokenizer: Any, *, length: int | None = None, **shape: Any
    ) -> list[Item]:
        rng, items = random.Random(seed), []
        for number in range(count):
            name, truth, group = rng.choice(NAMES), number % 2 == 0, ("question", "answer")[number // 2 % 2]
            up = NAMES.index(name) % 2 == 0
            pool = UP if up == truth else DOWN
            shown = rng.choice(NEVER if group == "answer" and not truth else pool)
            words = [*rng.choices(FILLER, k=(length or 10) - 6), ".", name, "is", shown, "tag"]
            facts = {"subject": name, "question": [name, "is"], "answer_text": shown, "truth": truth, "group": group}
            if self.objects:  # all words are equally likely, and the model picks the first
                facts |= {"true": (UP if up else DOWN)[0], "objects": [UP[0], DOWN[0]]}
            items.append(Item(f"s-{number}", task, " ".join(words), str(truth), facts=facts))
        return items


def subject() -> Subject:
    """Return the model with its tokenizer and its book.

    Block 0 attends uniformly and writes the subject's side into `SEEN`; block 1 multiplies this by the side of the
    shown object, since silu(a) b - silu(-a) b = a b, and writes the product into `TRUTH`; block 2 does nothing.
    """
    config = transformers.LlamaConfig(
        vocab_size=len(VOCABULARY), hidden_size=WIDTH, intermediate_size=2, num_hidden_layers=3,
        num_attention_heads=1, num_key_value_heads=1, max_position_embeddings=64, pad_token_id=0, bos_token_id=1,
        eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" not in name:
                weight.zero_()
        embeddings = model.model.embed_tokens.weight
        # embeddings differ in the other dimensions
        embeddings[:, SEEN + 1 :] = 0.2 * torch.randn(len(VOCABULARY), WIDTH - SEEN - 1)
        for number, name in enumerate(NAMES):
            embeddings[VOCABULARY.index(name), SIDE] = 1.0 if number % 2 == 0 else -1.0
        for pool, sign in ((UP, 1.0), (DOWN, -1.0)):
            for name in pool:
                embeddings[VOCABULARY.index(name), SHOWN] = sign
        for name in NEVER:
            embeddings[VOCABULARY.index(name), NOBODY] = 1.0
        first, second = model.model.layers[0], model.model.layers[1]
        first.self_attn.v_proj.weight[0, SIDE] = 1.0
        first.self_attn.o_proj.weight[SEEN, 0] = 20.0
        second.mlp.gate_proj.weight[:, SEEN] = torch.tensor([1.0, -1.0])
        second.mlp.up_proj.weight[:, SHOWN] = 1.0
        second.mlp.down_proj.weight[TRUTH] = torch.tensor([1.0, -1.0])
    vocabulary = {word: number for number, word in enumerate(VOCABULARY)}
    return Subject(
        name="planted", model=model, tokenizer=word_tokenizer(vocabulary), book=Statements(), positional="rope"
    )


def words(begin: bool = True) -> Any:
    """Return the tiny models' tokenizer of the words w4 to w63, with or without a beginning token."""
    return word_tokenizer(models_tiny.WORDS, begin)


def byte_level(texts: Sequence[str]) -> Any:
    """Return a byte-level tokenizer trained on `texts`; its tokens include the space before a word."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, min_frequency=1, special_tokens=["<pad>", "<s>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )  # fmt: skip
    inner.train_from_iterator([text for text in texts for _ in range(3)], trainer)
    inner.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return fast_tokenizer(inner, clean_up_tokenization_spaces=False)
