"""Training pairs of an MDR encoder: queries, the next passage, and hard negatives.

From labelled questions as in MDR (Xiong et al., ICLR 2021): each supporting passage is to be found
from the question and those before it. From a corpus without labels: a sentence that names another
document leads to that document, and a sentence leads to the passage it was taken from.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import regex

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.words import WORD, words
from kgp_neo4j.train.examples import TrainingQuestion, read_training_questions
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, no_corpus

__all__ = [
    "MdrPair",
    "corpus_pairs",
    "filled",
    "gather_pairs",
    "labelled_pairs",
    "retrieved_negatives",
]

#: Title and text of a passage.
Text = tuple[str, str]
#: Replaces a title that is masked in a sentence.
_MASK = "…"
#: Least words of a sentence that is used as a query.
_SHORTEST = 4
_WORD = regex.compile(WORD)


@dataclass(frozen=True, slots=True)
class MdrPair:
    """A question with the passages before, the passage that comes next, and some that do not."""

    question: str
    before: tuple[Text, ...]
    positive: Text
    negatives: tuple[Text, ...] = ()


def gather_pairs(
    files: Sequence[str | Path],
    database: Database | None = None,
    corpus: str | None = None,
    *,
    pairs: int = 10_000,
    negatives: int = 2,
    seed: int = 0,
) -> tuple[list[MdrPair], dict[str, int]]:
    """Return training pairs, and the number of pairs by source.

    With labelled files the pairs are theirs, and the corpus gives hard negatives; a corpus alone
    gives at most `pairs`. Raises ConfigurationError where there is neither, and CorpusError where
    there is no such corpus or it gives no pairs.
    """
    if files:
        questions = read_training_questions(files)
        source, retrieved = ", ".join(Path(file).name for file in files), None
        if database is not None and corpus is not None:
            source += f", with negatives from the corpus {corpus}"
            retrieved = retrieved_negatives(database, corpus, questions)
        labelled = labelled_pairs(questions, negatives=negatives, seed=seed, retrieved=retrieved)
        return labelled, {source: len(labelled)}
    if database is None or corpus is None:
        raise ConfigurationError(
            "there is nothing to train from",
            hint="Give files of labelled questions, a --corpus, or both.",
        )
    if not database.read("inspect/corpus", corpus=corpus):
        raise no_corpus(corpus)
    unlabelled = corpus_pairs(database, corpus, pairs=pairs, negatives=negatives, seed=seed)
    if not unlabelled:
        raise CorpusError(
            f"the corpus {corpus!r} has nothing to learn from: no passage names another document, "
            "and none has two sentences",
            hint="Connect it first (`kgp-neo4j connect`), or give files of labelled questions.",
        )
    return unlabelled, {f"the corpus {corpus}, without labels": len(unlabelled)}


def labelled_pairs(
    questions: Sequence[TrainingQuestion],
    *,
    negatives: int = 2,
    seed: int = 0,
    retrieved: Sequence[Sequence[Text]] | None = None,
) -> list[MdrPair]:
    """Return the steps of labelled questions, the first hop and every later one.

    Hard negatives are drawn from the question's own distractors, and from the passages `retrieved`
    for it (see `retrieved_negatives`) where they are given: half from each.
    """
    labelled: dict[MdrPair, None] = {}
    for at, question in enumerate(questions):
        generator = random.Random(f"{seed} {question.id}")
        similar = list(retrieved[at]) if retrieved else []
        for order in question.orders():
            passages = [(fact.title, fact.passage_text) for fact in order]
            for step, passage in enumerate(passages):
                near = generator.sample(similar, min(len(similar), (negatives + 1) // 2))
                others = [text for text in question.distractors if text not in near]
                near += generator.sample(others, min(len(others), negatives - len(near)))
                before = tuple(passages[:step])
                labelled[MdrPair(question.question, before, passage, tuple(near))] = None
    return list(labelled)


def retrieved_negatives(
    database: Database, corpus: str, questions: Sequence[TrainingQuestion], limit: int = 8
) -> list[list[Text]]:
    """Return for each question up to `limit` results of full-text search that are not its facts.

    Passages with the title or the text of a fact are left out.
    """
    retriever = PassageRetriever(database, corpus, method="bm25")
    negatives: list[list[Text]] = []
    with bar("negatives", len(questions), "questions") as progress:
        for question in questions:
            titles = {fact.title for fact in question.facts if fact.title}
            texts = [_plain(fact.text) for fact in question.facts]
            passages = retriever.retrieve(Question(question.id, question.question)).passages
            negatives.append(
                [
                    (passage.title, passage.text)
                    for passage in passages
                    if passage.title not in titles
                    and not any(text in _plain(passage.text) for text in texts)
                ][:limit]
            )
            progress.update()
    return negatives


def corpus_pairs(
    database: Database,
    corpus: str,
    *,
    pairs: int,
    negatives: int = 2,
    masked: float = 0.5,
    seed: int = 0,
) -> list[MdrPair]:
    """Return at most `pairs` steps made from a corpus without labels, the same for the same seed.

    Half of them, where the corpus has as many, lead from a passage to the document whose title it
    names: the query is the naming sentence, the title left out of a share `masked` of them, with
    the passage before. The others lead from a sentence to its passage without that sentence (the
    inverse cloze task of Lee et al., ACL 2019). Hard negatives are similar passages that no title
    joins.
    """
    generator = random.Random(seed)
    parameters = {"corpus": corpus, "seed": seed, "negatives": negatives}
    rows = database.read("train/named_passages", limit=pairs // 2, **parameters)
    named = [pair for row in rows if (pair := _named(row, generator, masked))]
    rows = database.read("train/drawn_passages", limit=pairs - len(named), **parameters)
    return named + [pair for row in rows if (pair := _cloze(row, generator))]


def filled(pairs: Sequence[MdrPair], negatives: int, seed: int = 0) -> list[MdrPair]:
    """Return the pairs with `negatives` each; missing ones are drawn from the other pairs."""
    generator = random.Random(seed)
    pool = list(dict.fromkeys(text for pair in pairs for text in (pair.positive, *pair.negatives)))
    complete = []
    for pair in pairs:
        near = [text for text in pair.negatives if text != pair.positive][:negatives]
        excluded = {pair.positive, *pair.before, *near}
        # Three times as many as are wanted, since some of them may be excluded.
        for text in generator.sample(pool, min(len(pool), 3 * negatives + len(excluded))):
            if len(near) < negatives and text not in excluded:
                near.append(text)
        # With very few passages one is repeated, which the loss counts twice.
        while near and len(near) < negatives:
            near.append(near[-1])
        if len(near) == negatives:
            complete.append(replace(pair, negatives=tuple(near)))
    return complete


def _plain(text: str) -> str:
    """Return a text without case and white space, to compare passages of different corpora."""
    return "".join(text.split()).casefold()


def _named(row: Row, draw: random.Random, masked: float) -> MdrPair | None:
    """Make a pair of a passage and the document it names; None where no sentence names it."""
    hide = draw.random() < masked
    for start, end in sentences(row["text"]):
        sentence = row["text"][start:end].strip()
        span = _span(sentence, row["names"])
        if span and len(words(sentence)) >= _SHORTEST:
            query = sentence[: span[0]] + _MASK + sentence[span[1] :] if hide else sentence
            return MdrPair(
                query,
                ((row["title"], row["text"]),),
                (row["nextTitle"], row["nextText"]),
                _texts(row),
            )
    return None


def _cloze(row: Row, draw: random.Random) -> MdrPair | None:
    """Make a pair of a sentence and its passage without it; None for a passage of one sentence."""
    text: str = row["text"]
    spans = [span for span in sentences(text) if len(words(text[slice(*span)])) >= _SHORTEST]
    if len(spans) < 2:
        return None
    start, end = draw.choice(spans)
    rest = (text[:start] + text[end:]).strip()
    return MdrPair(text[start:end].strip(), (), (row["title"], rest), _texts(row))


def _texts(row: Row) -> tuple[Text, ...]:
    return tuple((n["title"], n["text"]) for n in row["negatives"])


def _span(sentence: str, names: Iterable[str]) -> tuple[int, int] | None:
    """Return the span of one of some keywords in a sentence, with words cut as for the graph."""
    spans = [match.span() for match in _WORD.finditer(sentence)]
    low = [unicodedata.normalize("NFKC", sentence[a:b]).lower() for a, b in spans]
    for name in names:
        wanted = name.split()
        for at in range(len(low) - len(wanted) + 1):
            if low[at : at + len(wanted)] == wanted:
                return spans[at][0], spans[at + len(wanted) - 1][1]
    return None
