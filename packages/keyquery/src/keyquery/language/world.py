"""Define the world of the small models' language: its words, its facts, and the sentences about them.

The world is the same for every training seed, so models of all seeds answer the same items. A model can know facts
only from training, whereas keys, reviews and lists are in its context. A name has two words. Several names share each
word, so one word does not determine the fact.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

LANGUAGE_SEED = 0
Words = tuple[str, ...]


def _split_words(text: str) -> Words:
    return tuple(text.split())


SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
MARKS = _split_words(". ? : yes no true false good bad")
FRAME = _split_words(
    "the key code is remember what tell in lies where plays play does statement tag review rate copy again"
)
NUMERALS = tuple("0123456789")
TOWN_FIRST = _split_words("north old stone green river high white lost red")
TOWN_LAST = _split_words("haven bridge field gate ford hill port moor well")
LANDS = _split_words("drovia kelmar sundria ostland velland quorra")
NO_LANDS = _split_words("nowheria umbra erewhon")
PERSON_FIRST = _split_words("ana bo carl dina emil fay gus hana ivo")
PERSON_LAST = _split_words("tarn voss lind marsh okell pryce renn stahl udo")
SPORTS = _split_words("tennis rugby judo golf hockey polo")
NO_SPORTS = _split_words("thrumming lobbery quaffing")
NOUNS = _split_words("meal room bed view staff bar pool price door light music garden")
GOOD = _split_words("lovely superb fresh kind bright calm charming tidy")
BAD = _split_words("dirty awful stale rude dull noisy broken damp")
LISTED = _split_words(
    "ax bell coin drum egg flag glove hat ink jar kite lamp mug nail oar pin quill ring saw tube urn vase wheel yarn"
)
FILLER = _split_words(
    "we walk along this quiet road and then some wind moves over tall grass while small birds sing near "
    "an open window there children read long books about distant ships that sail across deep water toward "
    "new islands each morning people bake bread sell fruit mend nets paint boats carry wood fetch clear "
    "milk watch clouds drift past slow hours pass until evening comes with soft rain on every roof before "
    "night falls once"
)
BRANCHES = 4  # successors of a filler word


def _unique_words(*lists: Words) -> Words:
    return tuple(dict.fromkeys(word for words in lists for word in words))


WORDS = _unique_words(
    SPECIAL, MARKS, FRAME, NUMERALS, TOWN_FIRST, TOWN_LAST, LANDS, NO_LANDS, PERSON_FIRST, PERSON_LAST, SPORTS,
    NO_SPORTS, NOUNS, GOOD, BAD, LISTED, FILLER,
)  # fmt: skip
"""The vocabulary; a word's index is its token id."""

Name = tuple[str, str]


@dataclass(frozen=True)
class FactKind:
    """One kind of fact: which object belongs to each two-word name.

    `objects` maps names to objects. `pool` has the objects that belong to some name, and `never` has objects of the
    same kind that belong to no name.
    """

    name: str
    objects: Mapping[Name, str]
    pool: Words
    never: Words

    @property
    def subjects(self) -> tuple[Name, ...]:
        """All names, in the order of the world."""
        return tuple(self.objects)

    def stem(self, subject: Name) -> list[str]:
        """Return the sentence about the subject without its object."""
        return [*subject, "lies", "in"] if self.name == "cities" else [*subject, "plays"]

    def asked(self, subject: Name, candidate: str) -> list[str]:
        """Return the yes-no question whether `candidate` is the subject's object."""
        if self.name == "cities":
            return ["is", *subject, "in", candidate, "?"]
        return ["does", *subject, "play", candidate, "?"]

    def open(self, subject: Name) -> list[str]:
        """Return the open question for the subject's object."""
        return ["where", "is", *subject, "?"] if self.name == "cities" else ["what", "does", *subject, "play", "?"]

    def statement(self, subject: Name, candidate: str) -> list[str]:
        """Return a statement and the word `tag`; after `tag`, a document says whether the statement is true."""
        return ["statement", *self.stem(subject), candidate, "tag"]

    def wrong(self, subject: Name, rng: random.Random) -> str:
        """Draw an object from the pool that is not the subject's."""
        return rng.choice([word for word in self.pool if word != self.objects[subject]])


@dataclass(frozen=True)
class World:
    """The fixed world: both kinds of facts, and which words can follow each filler word."""

    cities: FactKind
    sports: FactKind
    followers: Mapping[str, Words]

    @property
    def relations(self) -> tuple[FactKind, FactKind]:
        """Both kinds of facts."""
        return self.cities, self.sports

    def filler(self, rng: random.Random) -> Iterator[str]:
        """Yield the words of an endless random walk; each follower of a word is half as likely as the previous one."""
        word = rng.choice(FILLER)
        while True:
            yield word
            word = rng.choices(self.followers[word], FOLLOWER_WEIGHTS)[0]


FOLLOWER_WEIGHTS = tuple(2.0**-rank for rank in range(BRANCHES))


@cache
def world(seed: int = LANGUAGE_SEED) -> World:
    """Return the world of a language seed."""
    rng = random.Random(f"world/{seed}")
    followers = {word: tuple(rng.sample(FILLER, BRANCHES)) for word in _unique_words(FILLER)}
    return World(
        cities=_make_relation("cities", TOWN_FIRST, TOWN_LAST, LANDS, NO_LANDS, rng),
        sports=_make_relation("sports", PERSON_FIRST, PERSON_LAST, SPORTS, NO_SPORTS, rng),
        followers=followers,
    )


def _make_relation(name: str, first: Words, last: Words, pool: Words, never: Words, rng: random.Random) -> FactKind:
    # Each first and each last word occurs in four names.
    subjects = [(first[i], last[(i + shift) % len(last)]) for shift in range(4) for i in range(len(first))]
    objects = [pool[i % len(pool)] for i in range(len(subjects))]
    rng.shuffle(subjects)
    rng.shuffle(objects)
    return FactKind(name, dict(zip(subjects, objects, strict=True)), pool, never)


OPINIONS = (3, 5)  # numbers of opinions in a review


def draw_review(rng: random.Random) -> tuple[list[str], str]:
    """Return a review with three or five opinions, and its verdict, `good` or `bad`; at most one opinion disagrees."""
    verdict, count = rng.choice(("good", "bad")), rng.choice(OPINIONS)
    opinions = [verdict] * count
    if rng.random() < 0.5:
        opinions[rng.randrange(count)] = "bad" if verdict == "good" else "good"
    words = ["review"]
    for noun, opinion in zip(rng.sample(NOUNS, count), opinions, strict=True):
        words += [noun, rng.choice(GOOD if opinion == "good" else BAD), "."]
    return [*words, "rate", ":"], verdict
