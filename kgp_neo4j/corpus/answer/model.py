"""Answers a question with one call of a language model, and checks every sentence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgp_neo4j.corpus.answer.check import Evidence, check
from kgp_neo4j.corpus.answer.prompt import TASK, TOKENS, passage_block, prompt_for, without_prompt
from kgp_neo4j.corpus.answer.reply import parse_reply
from kgp_neo4j.llm.call import reply_with_passages
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.safe import cut
from kgp_neo4j.types.corpus import Passage, Statement
from kgp_neo4j.types.language import LanguageModel

_NOTES = {
    "refused": "The model declined to answer.",
    "empty": "The model gave no reply.",
    "abstains": "The model says that the passages do not hold the answer.",
}


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
    encoder: Encoder | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Prompted:
    """Ask a model for an answer from passages, best first, and check its sentences (one call).

    Passages that do not fit into the model's context are left out, the worst first, and a note says
    which. Without passages the model answers from its own knowledge, and no statement is supported.
    Without an `encoder` the check compares words only. Raises ModelError where the model cannot be
    used.
    """
    blocks = [passage_block(number, passage) for number, passage in enumerate(passages, 1)]
    reply, fitting = reply_with_passages(
        model,
        TASK,
        lambda texts: prompt_for(question, texts, form, alone=not blocks),
        blocks,
        tokens=TOKENS[form],
        on_text=on_text,
    )
    notes: list[str] = []
    if dropped := len(passages) - fitting:
        which = f"[{fitting + 1}]" + (f" to [{len(passages)}]" if dropped > 1 else "")
        notes.append(
            f"{dropped} of {len(passages)} passages did not fit into the model's context and were "
            f"left out, the worst ones: {which}."
        )
    if reply.finish in ("refused", "empty"):
        return Prompted(reply.finish, (), (*notes, _NOTES[reply.finish]))
    broken = reply.finish == "length"
    shown = passages[:fitting]
    known = "\n".join(passage.text for passage in shown)
    parsed = parse_reply(without_prompt(reply.text), form, known, cut=broken)
    if broken:
        notes.append(
            "The model's reply was cut off: what it began last is left out."
            if parsed.claims
            else "The model's reply was cut off before it said anything."
        )
    if parsed.left_out:
        notes.append("The model's reply is too long: its end is left out.")
    if parsed.kind != "answer":
        if not broken:
            notes.append(_NOTES[parsed.kind])
        return Prompted(parsed.kind, notes=tuple(notes))
    statements = check(parsed.claims, Evidence(question, shown, encoder))
    notes += (f"“{cut(s.text, 60)}”: {s.note}." for s in statements if s.note)
    judged = [s.carried for s in statements if s.judged]
    if not all(judged):
        notes.append(f"The evidence carries {sum(judged)} of {len(judged)} statements.")
    return Prompted("answer", statements, tuple(notes))
