"""How well it is told whether a passage carries a sentence, on sentences known to be true or not.

    python benchmarks/citations.py FOLDER

From the train questions of 2WikiMultihopQA (its triples) and HotpotQA (its supporting facts)
sentences are made that a gold passage carries. False ones are made of them: another object of the
same relation (`object`), another name of the same passage (`inside`), another relation that the
passage does not name (`relation`), another number, a "not" put in; and true ones are held against
another passage (`passage`).

Prints the share of each kind that is taken for carried: right for `true` and `verbatim` alone.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import _common as common
from reading import given_passages

from kgp_neo4j.corpus.answer.check import Evidence
from kgp_neo4j.corpus.read.reader import load_reader
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.types.corpus import Passage

#: How a relation of 2WikiMultihopQA is said; the others as "The RELATION of SUBJECT is OBJECT."
SAID = {
    "date of birth": "{} was born on {}.",
    "date of death": "{} died on {}.",
    "place of birth": "{} was born in {}.",
    "place of death": "{} died in {}.",
    "country of citizenship": "{} is from {}.",
}
#: A kind, a sentence of it, and the passage that it is held against.
Case = tuple[str, str, Passage]
KINDS = ("true", "verbatim", "object", "inside", "relation", "number", "negated", "passage")
NAME = re.compile(r"(?:[A-Z][a-z]+ )+[A-Z][a-z]+")
#: Relations that hardly a passage of the sets speaks of, and words of which none may.
UNSAID = ("murderer", "landlord", "translator", "tailor", "cousin", "sponsor", "rescuer", "rival")


def negated(sentence: str) -> str:
    """Return a sentence that denies what it said."""
    made = re.sub(r"\b(is|was|are|were)\b", r"\1 not", sentence, count=1)
    return made if made != sentence else re.sub(r"\bdied\b", "did not die", sentence, count=1)


def variants(
    form: str, wanted: str, other: str, given: Passage, draw: random.Random
) -> Iterator[Case]:
    """Yield a true sentence and the false ones made of it; `form` has a gap for the object."""
    true = form.replace("\0", wanted)
    yield "true", true, given
    if other.casefold() not in given.text.casefold():
        yield "object", form.replace("\0", other), given
    if negated(true) != true:
        yield "negated", negated(true), given
    said = draw.choice(UNSAID)
    subject = re.match(r"The [\w ]+? of (.+) is \0\.$", form)
    if subject and said not in given.text.casefold():
        yield "relation", f"{wanted} is the {said} of {subject[1]}.", given
    if re.search(r"\d{4}", wanted):
        year = str(int(re.findall(r"\d{4}", wanted)[0]) + draw.choice((-7, 3, 11)))
        yield "number", re.sub(r"\d{4}", year, true), given
    names = [n for n in NAME.findall(given.text) if not set(n.split()) & set(true.split())]
    if names and not re.search(r"\d", wanted):
        yield "inside", form.replace("\0", draw.choice(names)), given


def of_2wiki(folder: Path, draw: random.Random) -> Iterator[Case]:
    """Yield cases of the triples that lead to the answers."""
    records = common.read_lines(folder / "2wiki" / "train.jsonl.gz")
    objects: defaultdict[str, list[str]] = defaultdict(list)
    for record in records:
        for _, relation, wanted in record["evidences"]:
            objects[relation].append(wanted)
    for record in records:
        texts = {t: " ".join(s.strip() for s in ss) for t, ss in record["context"]}
        for subject, relation, wanted in record["evidences"]:
            title = next((t for t in texts if t.startswith(subject)), None)
            if title is None or wanted.casefold() not in texts[title].casefold():
                continue
            form = SAID.get(relation, f"The {relation} of {{}} is {{}}.").format(subject, "\0")
            (given,) = given_passages([(title, texts[title])])
            other = draw.choice(objects[relation])
            yield from variants(form, wanted, other, given, draw)
            beside = draw.choice([t for t in texts if t != title])
            if wanted.casefold() not in texts[beside].casefold():
                true = form.replace("\0", wanted)
                yield "passage", true, *given_passages([(beside, texts[beside])])


def of_hotpotqa(folder: Path, draw: random.Random) -> Iterator[Case]:
    """Yield cases of the supporting facts, cut at a clause."""
    facts = []
    for record in common.read_lines(folder / "hotpotqa" / "train.jsonl.gz"):
        texts = dict(record["context"])
        for title, at in record["supporting_facts"]:
            if title in texts and at < len(texts[title]):
                facts.append((title, texts[title][at].strip(), "".join(texts[title])))
    for title, fact, text in facts:
        clause = re.match(r"(.{45,}?)[,;]", fact)
        said = f"{clause[1]}." if clause else fact
        (given,) = given_passages([(title, text)])
        yield "verbatim", said, given
        if negated(said) != said:
            yield "negated", negated(said), given
        other, _, beside = draw.choice(facts)
        if other != title:
            yield "passage", said, *given_passages([(other, beside)])


def main() -> None:
    """Make the cases, check them, and print the table."""
    given = common.parser(__doc__, 100, "holds 2wiki and hotpotqa").parse_args()
    draw = random.Random(given.seed)
    cases: defaultdict[tuple[str, str], list[tuple[str, Passage]]] = defaultdict(list)
    for source in (of_2wiki, of_hotpotqa):
        for kind, sentence, held in source(given.folder, draw):
            cases[source.__name__, kind].append((sentence, held))
    encoder, ask = load_encoder(), load_reader().likeliest
    carried: defaultdict[str, list[bool]] = defaultdict(list)
    for (_, kind), of_kind in cases.items():
        for sentence, held in draw.sample(of_kind, min(given.questions, len(of_kind))):
            carried[kind].append(Evidence("", [held], encoder, ask).support(sentence, [0]).carried)
    table = [(kind, 100 * common.mean(carried[kind]), len(carried[kind])) for kind in KINDS]
    print(f"{common.described()}\n\n{common.markdown(('sentence', 'carried, %', 'cases'), table)}")


if __name__ == "__main__":
    main()
