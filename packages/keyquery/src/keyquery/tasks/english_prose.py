"""Generate English text from small grammars: sentences, paragraphs, source code, reviews; without digits."""

import random
from collections.abc import Sequence

PEOPLE = (
    "the baker", "the old teacher", "a young sailor", "the gardener", "her cousin", "the librarian", "a tired nurse",
    "the clockmaker", "his neighbour", "the postman", "a quiet student", "the beekeeper", "the mayor",
    "a travelling cook", "the carpenter", "the twins", "an engineer", "the painter", "my aunt", "the ferryman",
)  # fmt: skip
PLACES = (
    "the harbour", "the market square", "the stone bridge", "a narrow lane", "the railway station", "the orchard",
    "the upper village", "the town hall", "an empty field", "the river bank", "the long beach", "the workshop",
    "the reading room", "the hill above the lake", "the back garden", "the lighthouse", "the mill",
    "the edge of the forest",
)  # fmt: skip
THINGS = (
    "a basket of pears", "two wooden chairs", "an unopened letter", "a bundle of maps", "the repaired clock",
    "a copper kettle", "some dry firewood", "a heavy ladder", "the missing key ring", "a box of candles", "fresh bread",
    "a coil of rope", "the blue lantern", "a jar of honey", "an old violin", "the spare oars", "a roll of cloth",
    "the garden tools",
)  # fmt: skip
ACTS = (
    "carried {thing} to {place}", "left {thing} near {place}", "looked for {thing} at {place}",
    "found {thing} behind {place}", "traded {thing} for a warm coat", "forgot {thing} on the way to {place}",
    "painted a picture of {place}", "waited by {place} until the light was gone", "told a long story about {place}",
    "measured the wall beside {place}", "promised to bring {thing} before the weekend", "walked twice around {place}",
    "cleaned the windows that face {place}",
)  # fmt: skip
TIMES = (
    "Before sunrise", "Late in the afternoon", "On most mornings", "After the rain", "Towards the end of winter",
    "That evening", "While the bells rang", "During the fair", "Once the snow had melted", "Early in spring",
    "As every year", "At noon", "Some weeks later", "When the wind turned",
)  # fmt: skip
ASIDES = (
    "although nobody had asked", "because the road was closed", "and this surprised everyone",
    "as was the custom there", "so the others went home early", "while children played nearby",
    "which took longer than expected", "but said little of it", "since there was time enough", "and the dog followed",
    "with more patience than skill", "without any hurry",
)  # fmt: skip
SCENES = (
    "A thin mist lay over {place}", "The air at {place} smelled of salt and smoke", "Swallows circled above {place}",
    "Nothing moved around {place}", "The lamps near {place} were lit one after another",
    "Leaves had gathered along the path to {place}", "A slow cart passed {place}",
    "Somebody was singing close to {place}", "The shutters of the houses by {place} stood open",
    "Water dripped from the roof beside {place}",
)  # fmt: skip

NAMES = (
    "count total index items record buffer limit cursor entry weights offset queue parent branch label depth width "
    "price order stock route signal sample window"
).split()
VERBS = "load merge split filter update collect rank parse scale trim check fold store sort".split()
TESTS = ("{a} is None", "not {a}", "{a} > {b}", "len({a}) == 0", "{a} in {b}", "{a} != {b}", "isinstance({a}, str)")
STEPS = (
    "{a} = {b} + {c}", "{a}.append({b})", "{a} = max({b}, {c})", "{a} = [{b} for {b} in {c} if {b}]",
    "{a}, {b} = {b}, {a}", "{a} = {b}.get({c})", "{a} -= {b}", "{a} = sorted({b}, key={c})",
)  # fmt: skip

ASPECTS = (
    "the plot", "the acting", "the music", "the camera work", "the dialogue", "the ending", "the pacing",
    "the lead performance", "the humour", "the set design", "the editing", "the supporting cast",
)  # fmt: skip
PRAISE = (
    "{it} is a delight from the first scene", "{it} shows real care and wit", "I admired {it}",
    "{it} carries the whole film", "{it} moved me more than I expected", "{it} feels fresh and honest",
    "rarely has {it} been so well judged", "{it} is close to perfect",
)  # fmt: skip
BLAME = (
    "{it} is a chore to sit through", "{it} shows no care at all", "I was bored by {it}",
    "{it} drags the whole film down", "{it} left me cold", "{it} feels stale and false",
    "rarely has {it} been so badly judged", "{it} is close to unbearable",
)  # fmt: skip
OPENINGS = (
    "I saw this film with a friend last week.",
    "I had read nothing about it beforehand.",
    "It came on late and I stayed up for it.",
    "My sister chose this one for us.",
    "I went in with no expectations.",
    "I have seen most of what this director made.",
)
VERDICTS = {
    "positive": (
        "All in all I loved it and will watch it again.",
        "It is one of the best films of the year.",
        "Do not miss it.",
        "I left the cinema happy.",
    ),
    "negative": (
        "All in all I hated it and want my evening back.",
        "It is one of the worst films of the year.",
        "Do not bother with it.",
        "I left the cinema annoyed.",
    ),
}


def sentence(rng: random.Random, people: Sequence[str] = PEOPLE, places: Sequence[str] = PLACES) -> str:
    """Return one sentence of a village chronicle."""
    place, thing = rng.choice(places), rng.choice(THINGS)
    if rng.random() < 0.3:
        return rng.choice(SCENES).format(place=place) + "."
    clause = f"{rng.choice(people)} " + rng.choice(ACTS).format(place=place, thing=thing)
    if rng.random() < 0.6:
        clause = f"{rng.choice(TIMES)}, {clause}"
    if rng.random() < 0.5:
        clause += f", {rng.choice(ASIDES)}"
    return capital(clause) + "."


def paragraph(rng: random.Random) -> str:
    """Return a paragraph of five to eight sentences about a few people and places."""
    people, places = rng.sample(PEOPLE, 3), rng.sample(PLACES, 3)
    return " ".join(sentence(rng, people, places) for _ in range(rng.randint(5, 8)))


def python_function(rng: random.Random) -> str:
    """Return the source of one function of a made-up Python program."""
    names = rng.sample(NAMES, 5)

    def fill(text: str) -> str:
        a, b, c = rng.sample(names, 3)
        return text.format(a=a, b=b, c=c)

    verb = rng.choice(VERBS)
    lines = [f"def {verb}_{names[0]}({names[1]}, {names[2]}=None):"]
    lines.append(f'    """{verb.capitalize()} the {names[0]} of each {names[1]}."""')
    lines.append(f"    {names[3]}, {names[4]} = [], {names[1]}")
    for _ in range(rng.randint(2, 4)):
        draw = rng.random()
        if draw < 0.4:
            lines += [f"    if {fill(rng.choice(TESTS))}:", f"        {fill(rng.choice(STEPS))}"]
        elif draw < 0.7:
            item, items = rng.sample(names, 2)
            lines += [f"    for {item} in {items}:", f"        {fill(rng.choice(STEPS))}"]
        else:
            lines.append(f"    {fill(rng.choice(STEPS))}")
    lines.append(f"    return {rng.choice(names)}")
    return "\n".join(lines)


def film_review(rng: random.Random, verdict: str) -> str:
    """Return a film review of six or seven sentences, one of which contradicts the verdict."""
    aspects = rng.sample(ASPECTS, rng.randint(3, 4))
    opinions, contrary_opinions = (PRAISE, BLAME) if verdict == "positive" else (BLAME, PRAISE)
    patterns = rng.sample(opinions, len(aspects))
    sentences = [capital(pattern.format(it=aspect)) + "." for aspect, pattern in zip(aspects, patterns, strict=True)]
    other_aspect = rng.choice([aspect for aspect in ASPECTS if aspect not in aspects])
    index = rng.randrange(len(sentences))
    sentences.insert(index, "True, " + rng.choice(contrary_opinions).format(it=other_aspect) + ".")
    return " ".join([rng.choice(OPENINGS), *sentences, rng.choice(VERDICTS[verdict])])


def capital(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
