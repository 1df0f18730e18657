"""Read training data: supporting facts in the order of the reasoning; what the reader learns from.

Known are the training files of HotpotQA, 2WikiMultihopQA and MuSiQue and, for the offline reader,
lines with a "context" and its "qas" (SQuAD's form), and with a "passage" and a true or false
"answer" (BoolQ's).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.environment.files import read_question_records
from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.text.values import compare, date_places
from kgp_neo4j.text.words import title_words, words
from kgp_neo4j.types.errors import InputError

_EXPECTED = (
    "Expected are the training or development files of HotpotQA, 2WikiMultihopQA "
    '("supporting_facts" and "context") or MuSiQue ("paragraphs").'
)
#: What reading a record of another form raises.
BROKEN = (AttributeError, IndexError, KeyError, TypeError, ValueError)

#: Title and text of a passage.
Text = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SupportingFact:
    """The part of one passage that a question needs.

    `text` is the passage's supporting sentences, `passage_text` all of it (the same where a data
    set gives only the sentences); `title` is empty where it is unknown.
    """

    title: str
    text: str
    passage_text: str


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question with its supporting facts in the order of the reasoning, one fact a passage.

    `starts` are the places in `facts` where a line of reasoning begins that needs nothing of the
    lines before it: (0,) for a bridge question, (0, 1) for a comparison of two things.
    `distractors` are title and text of the other passages that the data set gives.
    """

    question: str
    answer: str
    facts: tuple[SupportingFact, ...]
    distractors: tuple[Text, ...] = ()
    starts: tuple[int, ...] = (0,)

    def orders(self) -> list[tuple[SupportingFact, ...]]:
        """Return the orders in which the facts can be found: each line of reasoning first once."""
        ends = (*self.starts[1:], len(self.facts))
        lines = [self.facts[a:b] for a, b in zip(self.starts, ends, strict=True)]
        return [sum(lines[at:] + lines[:at], ()) for at in range(len(lines))]


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """One step of reasoning: the question, the passages found so far, and the fact to find next."""

    question: str
    found: tuple[SupportingFact, ...]
    expected: SupportingFact


def training_pairs(questions: Sequence[TrainingQuestion]) -> list[TrainingPair]:
    """Return the training pairs of the agent `llama` (KGP, section 4.1), each once.

    Each fact is predicted from the question and those before it; a comparison's in both orders.
    """
    pairs = (
        TrainingPair(question.question, order[:at], fact)
        for question in questions
        for order in question.orders()
        for at, fact in enumerate(order)
    )
    return list(dict.fromkeys(pairs))


def read_training_questions(paths: Sequence[str | Path]) -> list[TrainingQuestion]:
    """Return the questions of some files (`.jsonl`, or `.json` with one array; also `.gz`).

    A question in several files is kept once, as in the first of them; MuSiQue's unanswerable
    questions, which lack a fact, are left out. Raises InputError with file and line for a record
    that is no question, has no supporting facts or lacks the passage of one.
    """
    questions: dict[str, TrainingQuestion] = {}
    for path in map(Path, paths):
        for record, where in read_question_records(path, _EXPECTED):
            if question := training_question(record, where):
                questions.setdefault(question.question.strip(), question)
    return list(questions.values())


def training_question(record: dict[str, Any], where: str) -> TrainingQuestion | None:
    """Return the question of a record; None where the data set marks it as unanswerable."""
    if record.get("answerable") is False:
        return None
    starts: tuple[int, ...] = (0,)
    try:
        question, answer = record["question"], record["answer"]
        read = _musique if "paragraphs" in record else _hotpotqa
        facts, distractors = read(record)
        if not question.strip() or not facts:
            raise ValueError("the question or its supporting facts are empty")
        texts = (text for fact in facts for text in (fact.title, fact.passage_text))
        check_text(where, question, answer, *texts, *sum(distractors, ()))
    except BROKEN as error:
        raise InputError(
            f"not a question with its supporting facts ({error!r})", where=where, hint=_EXPECTED
        ) from error
    if "comparison" in str(record.get("type", "")):
        facts, starts = _side_by_side(facts)
    elif "paragraphs" not in record:
        facts = chained(question, answer, facts)
    return TrainingQuestion(question, answer, tuple(facts), tuple(distractors), starts)


def check_text(where: str, *texts: str) -> None:
    """Raise InputError for texts that no file in UTF-8 can hold."""
    if not is_storable("".join(texts)):
        problem = "a text holds half a surrogate pair"
        raise InputError(problem, where=where, hint="Mend the escape.")


def _hotpotqa(record: dict[str, Any]) -> tuple[list[SupportingFact], list[Text]]:
    """Return facts and distractors of HotpotQA and 2WikiMultihopQA, which share their form."""
    context = _pairs(record["context"], "title", "sentences")
    passages: dict[str, list[str]] = {}
    for title, texts in context:
        if not isinstance(texts, list):
            raise TypeError("a passage in the context is no list of sentences")
        passages.setdefault(title, texts)
    wanted: dict[str, set[int]] = {}
    for title, number in _pairs(record["supporting_facts"], "title", "sent_id"):
        wanted.setdefault(title, set()).add(number)
    facts = []
    for title, numbers in wanted.items():
        texts = passages.get(title, [])
        if not "".join(texts).strip():
            # In the files of HotpotQA's "distractor" setting it always is.
            raise ValueError(f"the supporting passage {title!r} is not in the context")
        # Published files point past the end of a few passages: the whole passage is the support.
        supporting = [s for at, s in enumerate(texts) if at in numbers] or texts
        facts.append(SupportingFact(title, _as_text(supporting), _as_text(texts)))
    others = [(title, _as_text(s)) for title, s in context if title not in wanted]
    return facts, [(title, text) for title, text in others if text]


def _pairs(value: Any, first: str, second: str) -> list[tuple[str, Any]]:
    """Return [[a, b], ...], or the {first: [...], second: [...]} of the Hugging Face copies."""
    if isinstance(value, dict):
        value = zip(value[first], value[second], strict=True)
    return [(title, other) for title, other in value]


def _musique(record: dict[str, Any]) -> tuple[list[SupportingFact], list[Text]]:
    """Return MuSiQue's facts in the order of its decomposition: each is a whole paragraph."""
    paragraphs = {
        int(p.get("idx", at)): (p["title"], p["paragraph_text"])
        for at, p in enumerate(record["paragraphs"])
    }
    steps = record.get("question_decomposition") or ()
    order = [step["paragraph_support_idx"] for step in steps] or [
        p.get("idx", at) for at, p in enumerate(record["paragraphs"]) if p.get("is_supporting")
    ]
    gold = [paragraphs[at] for at in dict.fromkeys(order)]
    facts = [SupportingFact(title, text, text) for title, text in gold]
    return facts, [text for at, text in paragraphs.items() if at not in order]


def _side_by_side(facts: list[SupportingFact]) -> tuple[list[SupportingFact], tuple[int, ...]]:
    """Return a comparison's facts, one that another names behind it; where each thing begins."""
    named = [f for f in facts if any(_names(o.text, f.title) for o in facts if o is not f)]
    later = named if len(facts) > 2 else []
    lines = [[fact] for fact in facts if fact not in later]
    if not lines:
        return facts, (0,)
    for fact in later:
        naming = [line for line in lines if any(_names(f.text, fact.title) for f in line)]
        min(naming or lines, key=len).append(fact)
    starts = [sum(map(len, lines[:at])) for at in range(len(lines))]
    return [fact for line in lines for fact in line], tuple(starts)


def _as_text(sentences: Sequence[str]) -> str:
    return " ".join(" ".join(sentences).split())


def chained(question: str, answer: str, facts: Sequence[SupportingFact]) -> list[SupportingFact]:
    """Return the facts of a bridge question in the order of its reasoning.

    What the question names comes first, and what has the answer last: so HotpotQA's bridge
    questions were written (Yang et al., 2018, section 2). Ties keep their order.
    """
    end = _run(words(answer))

    def place(fact: SupportingFact) -> float:
        named = _share(fact.title or fact.text, question)
        return (end in _run(words(fact.text))) - 2.0 * named

    return sorted(facts, key=place)


def _share(title: str, question: str) -> float:
    """Return the share of a title's words that the question has; 1 where it names it."""
    if _names(question, title):
        return 1.0
    forms = title_words(title)
    if not forms:
        return 0.0
    wanted = {word.lower() for word in forms[-1]}
    return 0.5 * len(wanted.intersection(_run(words(question)).split())) / len(wanted)


def _names(text: str, title: str) -> bool:
    read = _run(words(text))
    return any(_run(form) in read for form in title_words(title))


def _run(said: Sequence[str]) -> str:
    """Return words in small letters with spaces around each, to look for one run in another."""
    return f" {' '.join(said)} ".lower()


#: A span of a passage: its number, whether it is in the title, start and end.
Place = tuple[int, bool, int, int]
Places = tuple[Place, ...]

_EXPECTED_TO_READ = (
    "Expected are the training files of HotpotQA, 2WikiMultihopQA or MuSiQue, lines with "
    '"context" and "qas", or lines with "passage", "question" and a true or false "answer".'
)
#: Characters of a passage kept on each side of an answer with known place.
_AROUND = 180


@dataclass(frozen=True, slots=True)
class Program:
    """The comparison in a question: an operation of `network.OPERATIONS` on two values.

    `values` are the places where each is read, `options` the characters of the question that name
    the owner of each, in the question's order; both are empty where they are unknown.
    """

    operation: str
    values: tuple[Places, ...] = ()
    options: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ReadingExample:
    """A question, the passages (title, text) that answer it, others beside them, and the answer.

    `kind` is `span`, `yes`, `no` or `none`. `places` are the spans of the answer, every one of them
    right. `group` is the kind of data that it comes from: `several` passages to be read together,
    or one. `support` are the places of the supporting sentences, None where they are unknown;
    `program` is None where it is unknown whether the question compares anything.
    """

    question: str
    passages: tuple[Text, ...]
    kind: str
    places: Places = ()
    others: tuple[Text, ...] = ()
    group: str = "several"
    answer: str = ""
    support: Places | None = None
    program: Program | None = None


def read_reading_examples(paths: Sequence[str | Path]) -> list[ReadingExample]:
    """Return examples whose answers are in their passages; raises InputError for unknown forms."""
    return [example for path in map(Path, paths) for example in _read(path)]


def _read(path: Path) -> Iterator[ReadingExample]:
    """Yield a file's examples: questions over several passages first, then their single steps."""
    several: dict[str, ReadingExample | None] = {}
    steps: list[ReadingExample] = []
    for record, where in read_question_records(path, _EXPECTED_TO_READ):
        try:
            if "passage" in record:
                yield _yes_or_no(record, where)
            elif "qas" in record:
                yield from _spans(record, where)
            else:
                question = training_question(record, where)
                if question and (text := question.question.strip()) not in several:
                    several[text] = _together(question, record)
                for asked, answer, title, text in (*_triples(record), *decomposed(record)):
                    if places := _places([(title, text)], answer):
                        steps.append(_one_step(asked, (title, text), places, answer))
        except BROKEN as error:
            raise InputError(
                f"not a question ({error!r})", where=where, hint=_EXPECTED_TO_READ
            ) from error
    yield from (example for example in several.values() if example)
    yield from steps


def occurrences(text: str, answer: str) -> list[tuple[int, int]]:
    """Return the spans of an answer in a text as whole words, in any case."""
    words = r"\s+".join(map(re.escape, answer.split()))
    if not words:
        return []
    pattern = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
    return [match.span() for match in pattern.finditer(text)]


def _yes_or_no(record: Mapping[str, Any], where: str) -> ReadingExample:
    """Return a question of BoolQ's form."""
    answer, asked = record["answer"], str(record["question"]).strip()
    if not isinstance(answer, bool):
        raise ValueError('"answer" is neither true nor false')
    asked = f"{asked[:1].upper()}{asked[1:]}{'' if asked.endswith('?') else '?'}"
    passage = str(record.get("title") or ""), str(record["passage"])
    check_text(where, asked, *passage)
    return ReadingExample(asked, (passage,), "yes" if answer else "no", group="yes or no")


def _spans(record: Mapping[str, Any], where: str) -> Iterator[ReadingExample]:
    """Yield the questions of SQuAD's form, over one context."""
    text, title = str(record["context"]), str(record.get("title") or "").replace("_", " ")
    for asked in record["qas"]:
        question = asked["question"]
        check_text(where, question, title, text)
        places = sorted({(int(at), int(at) + len(answer)) for answer, at in asked["answers"]})
        if any(not 0 <= start < end <= len(text) for start, end in places):
            raise ValueError("an answer stands outside of its context")
        if not places:
            yield ReadingExample(question, ((title, text),), "none", group="one", support=())
            continue
        # Of several people's answers the shortest, with the part of the text around it.
        start, end = min(places, key=lambda place: place[1] - place[0])
        before = text.rfind(". ", 0, start - _AROUND) if start > _AROUND else -1
        low = before + 2 if before >= 0 else 0
        high = text.find(". ", end + _AROUND)
        part = text[low : high + 1 if high > 0 else None]
        yield _one_step(
            question, (title, part), ((0, False, start - low, end - low),), text[start:end]
        )


def _one_step(question: str, passage: Text, places: Places, answer: str) -> ReadingExample:
    """Return a question that one passage answers, supported by the sentences with the answer."""
    support = tuple(
        (0, False, a, b)
        for _, in_title, start, _ in places
        if not in_title
        for a, b in sentences(passage[1])
        if a <= start < b
    )
    return ReadingExample(question, (passage,), "span", places, (), "one", answer, support)


def _together(question: TrainingQuestion, value: Mapping[str, Any]) -> ReadingExample | None:
    """Return a question over its supporting passages; None where the answer is not in them."""
    passages = tuple((fact.title, fact.passage_text) for fact in question.facts)
    kind = question.answer.strip().lower()
    places: Places = ()
    if kind not in ("yes", "no"):
        kind, places = "span", _places(passages, question.answer)
        if not places:
            return None
        # The end of the reasoning has the answer; earlier occurrences are by chance.
        last = max(place[0] for place in places)
        if len(question.starts) == 1:
            places = tuple(place for place in places if place[0] == last)
    support = tuple(
        (at, False, found, found + len(said))
        for at, fact in enumerate(question.facts)
        for said in (fact.text[start:end].strip() for start, end in sentences(fact.text))
        if (found := fact.passage_text.find(said)) >= 0
    )
    return ReadingExample(
        question.question, passages, kind, places, question.distractors, "several",
        question.answer, support, _program(question, value, passages),
    )  # fmt: skip


def _program(
    question: TrainingQuestion, value: Mapping[str, Any], passages: Sequence[Text]
) -> Program | None:
    """Return the operation that a question asks for, by its triples; None where it is unknown."""
    triples, type_ = value.get("evidences"), value.get("type")
    if not isinstance(triples, list):
        return None
    if type_ in ("compositional", "inference"):
        return Program("none")
    ends = _ends(triples, followed=type_ == "bridge_comparison")
    if len(ends) != 2:
        return None
    asked = [(named(question.question, subject), subject) for subject in ends]
    if all(place for place, _ in asked):
        asked.sort(key=lambda one: one[0] or (0, 0))
    subjects = [subject for _, subject in asked]
    values = tuple(_value(ends[subject], passages) for subject in subjects)
    options = tuple(place for place, _ in asked if place)
    operation: str | None = "same"
    if question.answer.strip().lower() not in ("yes", "no"):
        names, winner = [bare(subject) for subject in subjects], bare(question.answer)
        if names.count(winner) != 1 or len({len(end) for end in ends.values()}) != 1:
            return None
        read = [" – ".join(said for *_, said in ends[subject]) for subject in subjects]
        spans = len(ends[subjects[0]]) == 2
        operation = operation_on(read, names.index(winner), spans=spans)
    if operation is None:
        return None
    return Program(operation, values if all(values) else (), options if len(options) == 2 else ())


def _ends(triples: Sequence[Any], *, followed: bool) -> dict[str, list[tuple[str, ...]]]:
    """Return the triples that hold the value of each thing compared, by that thing.

    With `followed` it is the value of what belongs to the thing: "Which film has the director who
    died first" compares the deaths of the films' directors.
    """
    facts = [tuple(map(str, triple)) for triple in triples if len(triple) == 3]
    between = {bare(said) for _, _, said in facts} if followed else set()
    ends: dict[str, list[tuple[str, ...]]] = {}
    for subject, _, said in (fact for fact in facts if bare(fact[0]) not in between):
        end = [f for f in facts if bare(f[0]) == bare(said)] if followed else []
        ends.setdefault(subject, []).extend(end or [(subject, "", said)])
    return ends


def operation_on(values: Sequence[str], chosen: int, *, spans: bool) -> str | None:
    """Return the operation on two values, or spans of time, that chooses one; None for none."""
    known = ("longer", "shorter") if spans else ("min", "max")
    return next((name for name in known if compare(name, *values[:2]) == chosen), None)


def _value(end: Sequence[tuple[str, ...]], passages: Sequence[Text]) -> Places:
    """Return the places of the values of one thing in its passage; of two, the span of both."""
    for at, (title, text) in enumerate(passages):
        if bare(title) != bare(end[0][0]):
            continue
        spans = [stands(text, said) for *_, said in end]
        if all(spans):
            starts, ends = zip(*(place for place in spans if place), strict=True)
            return ((at, False, min(starts), max(ends)),)
    return ()


def stands(text: str, said: str) -> tuple[int, int] | None:
    """Return the first span of a value in a text, as written or as the same date."""
    dates = {date for date, _, _ in date_places(said)}
    alike = [(start, end) for date, start, end in date_places(text) if date in dates]
    return next(iter([*occurrences(text, said), *alike]), None)


def named(question: str, title: str) -> tuple[int, int] | None:
    """Return where a question names a title, whole or without its "(disambiguator)"."""
    names = (title, without_brackets(title))
    return next((place for name in names for place in occurrences(question, name)), None)


def without_brackets(title: str) -> str:
    """Return a title without its "(disambiguator)"."""
    return re.sub(r"(?<!\s)\s*+\([^()]*+\)$", "", title).strip()


def bare(title: str) -> str:
    """Return a title without its "(disambiguator)", in small letters, to be compared."""
    return without_brackets(title).casefold()


def _places(passages: Sequence[Text], answer: str) -> Places:
    return tuple(
        (at, in_title, start, end)
        for at, (title, text) in enumerate(passages)
        for in_title, part in ((True, title), (False, text))
        for start, end in occurrences(part, answer)
    )


def _triples(record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield 2WikiMultihopQA's single steps in the form of `decomposed`."""
    triples, context = record.get("evidences"), record.get("context")
    if not isinstance(triples, list) or not isinstance(context, list):
        return
    texts = {title: " ".join("".join(parts).split()) for title, parts in context}
    for subject, relation, thing in triples:
        if subject in texts:
            yield f"What is the {relation} of {subject}?", thing, subject, texts[subject]


def decomposed(record: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield MuSiQue's single steps, each as question, answer, title and text of its paragraph."""
    steps = record.get("question_decomposition")
    if not isinstance(steps, list):
        return
    answers = [str(step.get("answer", "")) for step in steps]
    numbered = {p.get("idx", at): p for at, p in enumerate(record.get("paragraphs", ()))}
    for step, answer in zip(steps, answers, strict=True):
        if paragraph := numbered.get(step.get("paragraph_support_idx")):
            asked = re.sub(r"#(\d)", lambda m: answers[int(m[1]) - 1], str(step["question"]))
            subject, known, relation = asked.partition(" >> ")
            if known:
                asked = f"What is the {relation} of {subject}?"
            yield asked, answer, paragraph["title"], paragraph["paragraph_text"]
