"""Multiple choice questions: each option scored by how the graph reaches it from the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import regex

from kgp_neo4j.mindmap.answer.compose import route_text
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.stored_graph import StoredGraph
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.mindmap import OptionScore, ReasoningGraph, Triple

__all__ = ["best_option", "checked_options", "read_choice", "score_options"]

_ODD = regex.compile(
    r"\b(?:not|except|least|incorrect|false|never|wrong|untrue)\b"
    r"|不包括|不属于|不是|不能|不可|不宜|不应|不需|不会|不得|不正确|不恰当|不适|不具|错误|除外|无关|没有",
    regex.IGNORECASE,
)
#: Least score that decides: one hop, or two that pass no hub. Weaker evidence was right no more
#: often than chance (20 % of 189 questions of ExplainCPE's dev; 37 % of 16 from 0.05 on).
_DECIDES = 0.02
#: Ends a clause. Only the last clause asks; those before it describe the case.
_CLAUSE = regex.compile(r"[。！；，]|[.!;]\s")


def checked_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options with their labels in upper case.

    Raises ConfigurationError for a single option, an empty one, or a repeated label.
    """
    checked: dict[str, str] = {}
    for label, text in options.items():
        name = label.strip().upper()
        if not name or not text.strip():
            raise ConfigurationError(
                f"the option {label!r} is empty", hint="Write it as --option A=TEXT."
            )
        if name in checked:
            raise ConfigurationError(f"the option {name} is given twice")
        checked[name] = text.strip()
    if len(checked) == 1:
        raise ConfigurationError("there is one option only", hint="Give two or more.")
    return checked


def score_options(
    graph: StoredGraph, reasoning: ReasoningGraph, options: Mapping[str, str], question: str
) -> tuple[OptionScore, ...]:
    """Return the options of a question with their scores, in their order.

    An option's text is linked to entities. Each question entity adds 1 / hops² for the nearest of
    them within two hops (less through hubs of the graph), times the scores of both links and the
    share of the option's text that is linked. An entity that both name is no evidence. Likeness is
    the cosine of question and option by the graph's encoder, less the option's mean cosine to the
    others.
    """
    sources = [e for e in reasoning.entities if e.id]
    linked = {label: [e for e in link(graph, text) if e.id] for label, text in options.items()}
    rows = graph.database.read(
        "mindmap/reach",
        graph=graph.name,
        sources=[e.id for e in sources],
        targets=sorted({e.id for entities in linked.values() for e in entities}),
    )
    reached = {(row["source"], row["target"]): row for row in rows}
    texts = list(options.values())
    alike = graph.similarity(texts, texts)
    others = (alike.sum(axis=1) - alike.diagonal()) / max(len(texts) - 1, 1)
    likeness = np.round((graph.similarity(texts, [question])[:, 0] - others).tolist(), 6).tolist()
    scored = []
    for (label, text), like in zip(options.items(), likeness, strict=True):
        score = 0.0
        routes: list[tuple[str, list[Triple]]] = []
        for source in sources:
            # The score of a link, times the share of the option's text that it covers.
            length = max(len(text.strip()), 1)
            ways = [
                (e.score * min(len(e.surface) / length, 1.0) * row["weight"], row)
                for e in linked[label]
                if (row := reached.get((source.id, e.id)))
            ]
            if ways:
                weight, row = max(ways, key=lambda way: way[0])
                score += source.score * weight
                routes.append((row["start"], [Triple(**triple) for triple in row["triples"]]))
        shortest_first = sorted(routes, key=lambda route: len(route[1]))
        scored.append(
            OptionScore(
                label=label,
                text=text,
                score=round(score, 6),
                entities=tuple(dict.fromkeys(entity.name for entity in linked[label])),
                routes=tuple(route_text(start, triples) for start, triples in shortest_first),
                triples=tuple(dict.fromkeys(t.id for _, triples in routes for t in triples)),
                likeness=like,
            )
        )
    return tuple(scored)


def best_option(options: Sequence[OptionScore], question: str) -> tuple[str, bool, tuple[str, ...]]:
    """Return the label of the best option, whether evidence supports it, and the tied labels.

    A question for the odd one out ("which is not ...") takes the option with the lowest score,
    supported only where all others have evidence. An option that no evidence supports is a guess:
    the one whose text is most like the question's.
    """
    if not options:
        return "", False, ()
    clauses = [part for part in _CLAUSE.split(question) if part.strip()]
    odd = bool(clauses) and _ODD.search(clauses[-1]) is not None
    scores = [(-o.score if odd else o.score) for o in options]
    best = max(scores)
    tied = [o for o, score in zip(options, scores, strict=True) if score == best]
    if odd:
        supported = len(tied) == 1 and sum(o.score > 0 for o in options) == len(options) - 1
    else:
        supported = len(tied) < len(options) and best >= _DECIDES
    chosen = max(tied if supported else options, key=lambda o: o.likeness)
    ties = tuple(o.label for o in tied) if supported and len(tied) > 1 else ()
    return chosen.label, supported, ties


# --- The choice in a language model's reply ---

_SENTENCE = regex.compile(r"[。！？!?；;\n]|\.\s")
#: What may stand before the label that a reply begins with: "The answer is".
_OPENING = (
    r"\W*(?:the\s+)?(?:best\s+|correct\s+)?(?:option|answer|choice)?(?:\s+is)?"
    r"(?:最?正确的?|最佳)?(?:答案|选项|选择|选)?(?:应该?)?[是为]?[:：\s(（\[*]*"
)
_CONCLUDES = regex.compile(
    r"\b(?:answer|correct|best|therefore|so)\b|正确|答案|因此|所以|综上|选择", regex.IGNORECASE
)
_REJECTS = regex.compile(
    r"\b(?:not|incorrect|wrong|cannot|others?)\b|不是|不正确|无法|不能确定|其他|其余",
    regex.IGNORECASE,
)


def read_choice(reply: str, options: Mapping[str, str]) -> str:
    """Return the label of the option that a reply chooses; empty where it chooses none or several.

    It is the label that the reply begins with, else the one in the last sentence that concludes
    something and names one option, else the first label alone in a sentence, else the one option
    whose text it holds. What the reply says of each option in turn ("A: ... B: ...") is no choice.
    """
    if not options:
        return ""
    labels = "|".join(sorted(map(regex.escape, options), key=len, reverse=True))
    label = regex.compile(rf"(?<![\p{{Latin}}\p{{N}}\-])({labels})(?![\p{{Latin}}\p{{N}}\-])")
    of_one = regex.compile(rf"\W*(?:选项|option)?\s*({labels})\s*[:：.、)）\-]", regex.IGNORECASE)
    reply = regex.sub(r"[:：]\s*\n+", ": ", reply)
    if not regex.match(rf"\W*({labels})\s*[:：].*\n+\W*({labels})\s*[:：]", reply):
        several = rf"\s*[、,，和及&]\s*(?:{labels})\b"
        begins = rf"{_OPENING}({labels})(?!\s?[\p{{Latin}}\p{{N}}])(?!{several})"
        if match := regex.match(begins, reply, regex.IGNORECASE):
            return str(match[1]).upper()
    first = concluded = ""
    for sentence in _SENTENCE.split(reply):
        if of_one.match(sentence) or _REJECTS.search(sentence):
            continue
        labelled = set(label.findall(sentence))
        named = labelled or _quoted(sentence, options)
        if len(named) == 1:
            (one,) = named
            first = first or (one if labelled else "")
            concluded = one if _CONCLUDES.search(sentence) else concluded
    quoted = _quoted(reply, options)
    return concluded or first or (quoted.pop() if len(quoted) == 1 else "")


def _quoted(text: str, options: Mapping[str, str]) -> set[str]:
    """Return the labels of options that a text quotes, but not within a longer one."""
    held = {label: option for label, option in options.items() if option in text}
    return {
        label
        for label, option in held.items()
        if not any(option in other and option != other for other in held.values())
    }
