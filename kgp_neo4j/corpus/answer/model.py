"""Answers a question with one call of a language model, and checks every sentence."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgp_neo4j.corpus.answer import prompt
from kgp_neo4j.corpus.answer.check import Evidence, check
from kgp_neo4j.corpus.answer.names import Ask
from kgp_neo4j.corpus.answer.reply import parse_reply
from kgp_neo4j.corpus.read.reader import passages_to_read
from kgp_neo4j.llm.call import reply_with_passages
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.safe import cut
from kgp_neo4j.text.words import words
from kgp_neo4j.types.corpus import Answer, Passage, Reading, Statement
from kgp_neo4j.types.language import LanguageModel, ReplyOptions
from kgp_neo4j.types.tables import Tier

_NOTES = {
    "refused": "The model declined to answer.",
    "empty": "The model gave no reply.",
    "abstains": "The model says that the passages do not hold the answer.",
}

#: How far the log odds of a passage may be below the best one's for a short prompt to show it: of
#: dev questions with all their supporting facts read, 97 in 100 keep them, in 3 to 4.5 passages.
_APART = 6
#: The reader's confidence from which on a model that says the same makes an answer sure: of 40 such
#: answers to dev questions 38 were right, of 42 below 26 (Qwen2.5-Coder-1.5B).
_AGREED = 0.8


@dataclass(frozen=True, slots=True)
class Prompted:
    """A model's answer: `kind` is `answer`, `abstains`, `refused` or `empty`."""

    kind: str
    statements: tuple[Statement, ...] = ()
    notes: tuple[str, ...] = ()


def answer_with_model(
    question: str,
    passages: Sequence[Passage],
    model: LanguageModel,
    *,
    form: str = "short",
    shown: Sequence[Passage] | None = None,
    worth: Mapping[str, float] | None = None,
    abstains: bool = True,
    encoder: Encoder | None = None,
    ask: Ask = None,
    on_text: Callable[[str], None] | None = None,
) -> Prompted:
    """Ask a model for an answer from passages, best first, and check its sentences (one call).

    The prompt has those of `shown` (default: all), in that order, with their numbers among all.
    Those that do not fit into the model's context are left out, the ones of the least `worth` (by
    id; default: the last) first, and a note says which. `abstains` lets the model say that the
    passages do not hold the answer. Without passages it answers from its own knowledge. Without an
    `encoder` the check compares words only. Raises ModelError where the model cannot be used.
    """
    number = {passage.id: at for at, passage in enumerate(passages, 1)}
    shown = passages if shown is None else shown
    worth = worth or {}
    least = min(worth.values(), default=0.0) - 1
    best = sorted(shown, key=lambda passage: -worth.get(passage.id, least))
    blocks = [prompt.passage_block(number[passage.id], passage) for passage in best]
    line = {block: shown.index(passage) for block, passage in zip(blocks, best, strict=True)}

    def make(texts: Sequence[str]) -> str:
        ordered = sorted(texts, key=line.__getitem__)
        return prompt.prompt_for(question, ordered, form, alone=not blocks, abstains=abstains)

    grammar = prompt.grammar_for(form, [number[each.id] for each in shown], abstains=abstains)
    options = ReplyOptions(tokens=prompt.TOKENS[form], grammar=grammar, on_text=on_text)
    reply, fitting = reply_with_passages(model, prompt.TASK, make, blocks, **options)
    notes: list[str] = []
    if dropped := sorted(number[passage.id] for passage in best[fitting:]):
        few = f"{len(dropped)} of {len(shown)} passages did not fit into the model's context"
        worst = ", ".join(f"[{n}]" for n in dropped)
        notes.append(f"{few} and were left out, the worst ones: {worst}.")
    if reply.finish in ("refused", "empty"):
        return Prompted(reply.finish, (), (*notes, _NOTES[reply.finish]))
    broken = reply.finish == "length"
    known = "\n".join(passage.text for passage in best[:fitting])
    parsed = parse_reply(prompt.without_prompt(reply.text), form, known, cut=broken)
    if broken:
        rest = ": what it began last is left out" if parsed.claims else " before it said anything"
        notes.append(f"The model's reply was cut off{rest}.")
    if parsed.left_out:
        notes.append("The model's reply is too long: its end is left out.")
    if parsed.kind != "answer":
        told = () if broken else (_NOTES[parsed.kind],)
        return Prompted(parsed.kind, notes=(*notes, *told))
    statements = check(parsed.claims, Evidence(question, passages, encoder, ask))
    notes += (f"“{cut(s.text, 60)}”: {s.note}." for s in statements if s.note)
    judged = [s.carried for s in statements if s.judged]
    if not all(judged):
        notes.append(f"The evidence carries {sum(judged)} of {len(judged)} statements.")
    return Prompted("answer", statements, tuple(notes))


def passages_to_show(evidence: Answer, reading: Reading | None, most: int | None) -> list[Passage]:
    """Return a prompt's passages: those read, by paths, then others, or the `most` worth most."""
    read = passages_to_read(evidence.passages, evidence.paths)
    if most is None:
        return [*read, *(each for each in evidence.passages if each not in read)]
    worth = reading.worth if reading else {}
    least = max(worth.values(), default=0.0) - _APART
    near = [each for each in read if not worth or worth.get(each.id, -math.inf) >= least]
    kept = sorted(near, key=lambda each: -worth.get(each.id, 0.0))[:most]
    return [each for each in read if each in kept]


def weigh(statements: Sequence[Statement], reading: Reading | None, tier: Tier) -> bool | None:
    """Return whether the reader reads what a model answers: None where that cannot be said.

    It cannot where the reader does not answer with words of its own, where the reply is in another
    language than the passages, or where its answer, given as a `tier`, is improbable.
    """
    if reading is None or reading.kind == "sentence":
        return None
    wanted = f" {' '.join(words(reading.text))} ".casefold()
    said = [f" {' '.join(words(statement.text))} ".casefold() for statement in statements]
    if reading.text and (said[0] in wanted or any(wanted in each for each in said)):
        return True if reading.confidence >= _AGREED else None
    probable = tier in ("stated", "probable") and all(each.judged for each in statements)
    return False if probable else None
