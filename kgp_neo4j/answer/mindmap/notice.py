"""Tells whether a graph is a medical one, and says then what an answer is not."""

from __future__ import annotations

import regex

from kgp_neo4j.answer.mindmap.names import is_chinese
from kgp_neo4j.evidence.aggregation import readable
from kgp_neo4j.triples import ReasoningGraph

__all__ = ["NOT_ADVICE", "NOT_ADVICE_ZH", "is_medical", "medical_notice"]

NOT_ADVICE = (
    "This is no medical advice: it shows what a knowledge graph holds, which may be wrong or "
    "incomplete. Ask a doctor."
)
NOT_ADVICE_ZH = "这不是医疗建议：以上只是知识图谱中的内容，可能有误或不完整，请咨询医生。"
_WORDS = regex.compile(
    r"\b(?:symptoms?|diseases?|disorders?|drugs?|medications?|medicines?|medical|diagnos\w+|"
    r"treat(?:s|ed|ment)?|therap\w+|patients?|doctors?|clinic\w*|syndromes?|dos(?:e|age)|cures?|"
    r"pain|infection|surgery|prescri\w+|side effects?|vaccin\w+|pharma\w+)\b"
    r"|症状|症|疾病|病|药|检查|治疗|手术|患者|医|疗|疼|痛|诊",
    regex.IGNORECASE,
)


def is_medical(reasoning: ReasoningGraph, question: str) -> bool:
    """Return whether relations, types or the question speak of illness; in doubt, they do."""
    said = {readable(t.relation) for t in reasoning.triples}
    said |= {x for t in reasoning.triples for x in (t.head_type, t.tail_type)}
    return any(_WORDS.search(text) for text in (*said, question))


def medical_notice(question: str) -> str:
    """Return the notice in the language of the question."""
    return NOT_ADVICE_ZH if is_chinese(question) else NOT_ADVICE
