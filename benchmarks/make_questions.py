"""Make questions for the reader's training: out of two others, and about other things.

    python benchmarks/make_questions.py FOLDER --out made

Composed: where one question names what another one asks for, the name gives way to what is asked.
"When was Orion Pictures founded?" and "Which company distributed UHF?" make "When was the company
that distributed UHF founded?", as MuSiQue's authors had people do it (Trivedi et al., TACL 2022).
Both passages support the new question, and others of the same articles stand beside them.

Swapped: in a question of 2WikiMultihopQA other things take the place of those that it names, with
the same relations by the data set's triples, and the answer is worked out from theirs.

Writes `composed.jsonl` in MuSiQue's form and `swapped.jsonl` in 2WikiMultihopQA's. No development
question is used, nor a passage that supports one.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _common as common
from reading import NAMES

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.text.values import compare
from kgp_neo4j.train.examples import (
    bare,
    named,
    occurrences,
    operation_on,
    read_reading_examples,
    stands,
    without_brackets,
)

_BE = ("is", "was", "are", "were")
_HAVE = (*_BE, "has", "had", "have", "can", "could", "will", "would", "may", "must", "should")
_DO = ("did", "does", "do")
#: What may follow a name for which a longer phrase can stand.
_AFTER = re.compile(
    r"'s?\b|'|\s*[?,.;:)]|\s*$|\s+(?:in|on|at|of|for|to|from|with|by|as|and|or|that|which|who|when|where|how|than|"
    r"after|before|during|" + "|".join((*_HAVE, *_DO)) + r"|[a-z]+(?:ed|e|n|t|d)\b)"
)
_NAME = re.compile(r"[A-Z][\w.&-]*(?:(?:\s+(?:of|the|de|la|du|von|van|and))?\s+[A-Z0-9][\w.&-]*)*")
#: Words of a question at most, of an answer that leads on, and of one that asks for it.
_LONGEST, _LINK, _PHRASE = 45, 6, 22
#: Questions that lead to a name, for each question that has it; and passages beside the right ones.
_FIRST, _BESIDE = 3, 7


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, and the passages (title, text) that lead to it, in their order."""

    question: str
    answer: str
    passages: tuple[tuple[str, str], ...]


def phrase(question: str) -> str:
    """Return what a question asks for as a noun phrase; nothing where its form is not known."""
    said = question.strip().rstrip("?").strip()
    words = (said[:1].lower() + said[1:]).split()
    if not 3 <= len(words) <= _PHRASE:
        return ""
    before = ""
    if words[1] in ("what", "which") and words[0] in ("in", "on", "at", "for", "from", "by", "to"):
        before, words = f"{words[0]} ", words[1:]
    asks, rest = words[0], words[1:]
    if asks in ("what", "who") and rest[0] in _BE and rest[1] == "the":
        return " ".join(rest[1:])
    if asks == "who" and rest[0] not in _DO:
        return f"the person who {' '.join(rest)}"
    if asks == "where" and rest[0] in _DO:
        return f"the place where {' '.join(rest[1:])}"
    if asks in ("what", "which"):
        for at, word in enumerate(rest[1:6], 1):
            thing, told = " ".join(rest[:at]), " ".join(rest[at:])
            if word in _DO:
                that = f"{before}which" if before else "that"
                return f"the {thing} {that} {told.split(' ', 1)[-1]}"
            if not before and (
                word in _HAVE or (at == 1 and re.fullmatch(r"[a-z]{3,}(ed|[^s]s)", word))
            ):
                return f"the {thing} that {told}"
    return ""


def names(question: str) -> Iterator[tuple[str, int, int]]:
    """Yield the names in a question that a phrase may replace, with their place."""
    for found in _NAME.finditer(question):
        if found.start() and _AFTER.match(question, found.end()):
            yield found.group(), *found.span()


def composed(firsts: Sequence[Asked], seconds: Sequence[Asked], draw: random.Random) -> list[Asked]:
    """Return the questions in which something that `firsts` ask for stands for a name."""
    leading: dict[str, list[tuple[Asked, str]]] = defaultdict(list)
    for first in firsts:
        link = first.answer.strip().rstrip(".")
        said = phrase(first.question)
        if said and re.match(r"[A-Z]..", link) and len(link.split()) <= _LINK:
            leading[link].append((first, said))
    made = []
    for second in seconds:
        answer = second.answer.casefold()
        for name, start, end in names(second.question):
            fit = [
                (first, said)
                for first, said in leading.get(name, ())
                if not set(first.passages) & set(second.passages)
                and name not in first.question
                and answer not in f"{first.question} {first.answer}".casefold()
            ]
            draw.shuffle(fit)
            for first, said in fit[:_FIRST]:
                before = re.sub(r"\b[Tt]he\s+$", "", second.question[:start])
                question = f"{before}{said}{second.question[end:]}"
                if len(question.split()) <= _LONGEST:
                    made.append(Asked(question, second.answer, first.passages + second.passages))
    return made


def singles(data: Path, kept: set[str]) -> list[Asked]:
    """Return the questions over one passage: articles', and the single steps of two sets."""
    made = []
    for row in common.read_lines(*common.extractive(data)):
        title = str(row.get("title") or "").replace("_", " ")
        # What leads on are names; posts and policies name nothing that others ask for.
        if re.search("squad2|new_wiki|nq", row["source"]):
            passages = ((title, row["context"]),)
            made += [
                Asked(q["question"], min((a for a, _ in q["answers"]), key=len), passages)
                for q in row["qas"]
                if q["answers"]
            ]
    steps = read_reading_examples([data / name / "train.jsonl.gz" for name in ("2wiki", "musique")])
    made += [Asked(e.question, e.answer, e.passages) for e in steps if e.group == "one"]
    return [one for one in made if not any(text in kept for _, text in one.passages)]


def development(data: Path) -> set[str]:
    """Return the texts of the passages that support a development question."""
    files = [data / name / "dev.jsonl.gz" for name in NAMES]
    return {text for example in read_reading_examples(files) for _, text in example.passages}


def of_musique(
    asked: Sequence[Asked], known: Sequence[Asked], draw: random.Random
) -> Iterator[Any]:
    """Yield records of MuSiQue's form, with other passages of the same articles beside."""
    articles: dict[str, set[str]] = defaultdict(set)
    for one in known:
        for title, text in one.passages:
            articles[title].add(text)
    some = sorted(articles)
    for number, one in enumerate(asked):
        answer, right = one.answer.casefold(), {text for _, text in one.passages}
        drawn = [title for title, _ in one.passages for _ in range(3)] + draw.sample(some, _BESIDE)
        others: dict[str, str] = {}
        for title in drawn:
            text = draw.choice(sorted(articles[title]))
            if text not in right and answer not in f"{title} {text}".casefold():
                others[text] = title
        texts = [*one.passages, *((title, text) for text, title in others.items())]
        count = len(one.passages)
        paragraphs = [
            {"idx": at, "title": title, "paragraph_text": text, "is_supporting": at < count}
            for at, (title, text) in enumerate(texts[: count + _BESIDE])
        ]
        record = {"id": f"composed-{number}", "question": one.question, "answer": one.answer}
        yield record | {"paragraphs": paragraphs}


# --- Other things of the same relations ---


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that a question names, with what its relations lead to.

    `facts` are (title, relation, value), the second one of the thing that the first one leads to,
    or of the same thing.
    """

    facts: tuple[tuple[str, str, str], ...]

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations, and whether the second one is of the same thing."""
        same = len({title for title, _, _ in self.facts}) == 1
        return (*(relation for _, relation, _ in self.facts), str(same))

    @property
    def name(self) -> str:
        """Its title without what tells it from others of that name."""
        return without_brackets(self.facts[0][0])

    @property
    def value(self) -> str:
        """What the question compares or asks for."""
        if self.relations[-1] == "True":
            return " – ".join(value for _, _, value in self.facts)
        return self.facts[-1][2]


def things_of(row: common.Record, titles: set[str]) -> list[Thing]:
    """Return the things that a question names, in its order; nothing where a link is missing."""
    facts = [tuple(fact) for fact in row["evidences"]]
    if any(subject not in titles for subject, _, _ in facts):
        return []
    reached = {bare(value) for _, _, value in facts}
    roots = dict.fromkeys(subject for subject, _, _ in facts if bare(subject) not in reached)
    made = []
    for root in roots:
        own = [fact for fact in facts if fact[0] == root]
        later = [fact for fact in facts for _, _, value in own if bare(fact[0]) == bare(value)]
        if len(own) + len(later) > 2 or not named(row["question"], root):
            return []
        made.append(Thing((*own, *later)))
    return sorted(made, key=lambda one: named(row["question"], one.facts[0][0]) or (0, 0))


#: The things of each relations, by title; and a question, its answer and what it names.
_Alike = dict[tuple[str, ...], dict[str, Thing]]
_Made = tuple[str, str, list[Thing]]


def swapped(
    rows: Sequence[common.Record], texts: dict[str, str], number: int, draw: random.Random
) -> list[common.Record]:
    """Return about `number` questions about other things, with their passages and triples."""
    known: dict[str, list[tuple[common.Record, list[Thing]]]] = defaultdict(list)
    for row in rows:
        if things := things_of(row, set(texts)):
            known[row["type"]].append((row, things))
    facts = {(s, r): v for row in rows for s, r, v in row["evidences"] if s in texts}
    by_relations: _Alike = defaultdict(dict)
    for (subject, relation), value in facts.items():
        by_relations[relation, "True"][subject] = Thing(((subject, relation, value),))
        for (other, then), end in facts.items():
            leads = then != relation if other == subject else bare(other) == bare(value)
            if leads:
                made = Thing(((subject, relation, value), (other, then, end)))
                by_relations[made.relations][subject] = made
    found: dict[str, common.Record] = {}
    for _ in range(20 * number):
        row, things = draw.choice(known[draw.choice(sorted(known))])
        if made := _swapped(row, things, by_relations, draw):
            record = _of_2wiki(made, row["type"], texts, by_relations, draw)
            found.setdefault(record["question"], record)
        if len(found) == number:
            break
    return list(found.values())


def _swapped(
    row: common.Record, things: Sequence[Thing], by_relations: _Alike, draw: random.Random
) -> _Made | None:
    """Return question, answer and other things; None where the answer cannot be worked out."""
    choices = [sorted(by_relations[thing.relations].items()) for thing in things]
    if not all(choices):
        return None
    others = [draw.choice(choice)[1] for choice in choices]
    yes_no = row["answer"] in ("yes", "no")
    if len(things) == 2 and yes_no and draw.random() < 0.5:
        alike = [one for _, one in choices[1] if bare(one.value) == bare(others[0].value)]
        others[1] = draw.choice(alike) if alike else others[1]
    question = row["question"]
    for thing, other in reversed(list(zip(things, others, strict=True))):
        start, end = named(row["question"], thing.facts[0][0]) or (0, 0)
        question = f"{question[:start]}{other.name}{question[end:]}"
    if len({bare(one.facts[0][0]) for one in others}) < len(others):
        return None
    if len(things) == 1:
        told = bare(things[0].value) == bare(row["answer"])
        return (question, others[0].value, others) if told else None
    if len(things) != 2:
        return None
    before, now = [one.value for one in things], [one.value for one in others]
    if yes_no:
        same = bare(before[0]) == bare(before[1])
        if same != (row["answer"] == "yes"):
            return None
        return question, "yes" if bare(now[0]) == bare(now[1]) else "no", others
    names = [bare(one.facts[0][0]) for one in things]
    winner = bare(row["answer"])
    if names.count(winner) != 1:
        return None
    spans = things[0].relations[-1] == "True" and len(things[0].facts) == 2
    operation = operation_on(before, names.index(winner), spans=spans)
    chosen = compare(operation, *now) if operation else None
    return None if chosen is None else (question, others[chosen].name, others)


def _of_2wiki(
    made: _Made, kind: str, texts: dict[str, str], by_relations: _Alike, draw: random.Random
) -> common.Record:
    """Return a record of 2WikiMultihopQA's form, with passages of other such things beside."""
    question, answer, others = made
    facts = [fact for thing in others for fact in thing.facts]
    titles = list(dict.fromkeys(title for title, _, _ in facts))
    told = {title: [texts[title][a:b] for a, b in sentences(texts[title])] for title in titles}
    support = []
    for title, _, value in facts:
        holding = [at for at, said in enumerate(told[title]) if stands(said, value)]
        support.append([title, holding[0] if holding else 0])
    alike = [one for thing in others for _, one in sorted(by_relations[thing.relations].items())]
    beside = {
        title: texts[title]
        for one in draw.sample(alike, min(len(alike), 6))
        for title, _, _ in one.facts
        if title not in told and not occurrences(texts[title], answer)
    }
    return {
        "_id": f"swapped-{question}",
        "type": kind,
        "question": question,
        "answer": answer,
        "evidences": facts,
        "supporting_facts": support,
        "context": [*told.items(), *((title, [text]) for title, text in beside.items())],
    }


def main() -> None:
    """Make and write."""
    parser = common.parser(__doc__, None)
    parser.add_argument("--out", type=Path, required=True, help="the folder that is written")
    parser.add_argument("--composed", type=int, default=9000, help="at most (9000)")
    parser.add_argument("--swapped", type=int, default=4000, help="at most (4000)")
    given = parser.parse_args()
    draw = random.Random(given.seed)
    kept = development(given.folder)
    known = singles(given.folder, kept)
    two = composed(known, known, draw)
    three = composed(two, known, draw)
    files = [given.folder / f"2wiki/{name}.jsonl.gz" for name in ("train", "train_more")]
    rows = common.read_lines(*files)
    files = [given.folder / f"2wiki/{name}.jsonl.gz" for name in ("corpus", "corpus_hipporag")]
    corpus = common.read_lines(*files)
    texts = {row["title"]: row["text"] for row in corpus if row["text"] not in kept}
    made = list({one.question: one for one in [*two, *three]}.values())
    draw.shuffle(made)
    given.out.mkdir(parents=True, exist_ok=True)
    records = of_musique(made[: given.composed], known, draw)
    common.write_lines(given.out / "composed.jsonl", records)
    others = swapped(rows, texts, given.swapped, draw)
    common.write_lines(given.out / "swapped.jsonl", others)
    print(f"{len(two):,} questions of two steps, {len(three):,} of three, {len(others):,} swapped")


if __name__ == "__main__":
    main()
