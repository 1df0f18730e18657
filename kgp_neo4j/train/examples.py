"""Read supporting facts of HotpotQA, 2WikiMultihopQA and MuSiQue in the order of the reasoning."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.files import read_question_records
from kgp_neo4j.text.safe import is_storable
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
    for title, sentences in context:
        if not isinstance(sentences, list):
            raise TypeError("a passage in the context is no list of sentences")
        passages.setdefault(title, sentences)
    wanted: dict[str, set[int]] = {}
    for title, number in _pairs(record["supporting_facts"], "title", "sent_id"):
        wanted.setdefault(title, set()).add(number)
    facts = []
    for title, numbers in wanted.items():
        sentences = passages.get(title, [])
        if not "".join(sentences).strip():
            # In the files of HotpotQA's "distractor" setting it always is.
            raise ValueError(f"the supporting passage {title!r} is not in the context")
        # Published files point past the end of a few passages: the whole passage is the support.
        supporting = [s for at, s in enumerate(sentences) if at in numbers] or sentences
        facts.append(SupportingFact(title, _as_text(supporting), _as_text(sentences)))
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
