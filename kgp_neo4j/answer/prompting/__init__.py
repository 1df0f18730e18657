"""Prompting: an answer by a language model from passages, with citations that were checked."""

from kgp_neo4j.answer.prompting.answering import Prompted, answer_with_model
from kgp_neo4j.answer.prompting.check import MARK, check, marked
from kgp_neo4j.answer.prompting.neutral import Stream, neutral
from kgp_neo4j.answer.prompting.prompt import FORMS, TASK, passage_block, prompt_for, thought_prompt
from kgp_neo4j.answer.prompting.reply import Claim, Parsed, parse_reply
from kgp_neo4j.answer.prompting.support import Evidence, Support

__all__ = [
    "FORMS",
    "MARK",
    "TASK",
    "Claim",
    "Evidence",
    "Parsed",
    "Prompted",
    "Stream",
    "Support",
    "answer_with_model",
    "check",
    "marked",
    "neutral",
    "parse_reply",
    "passage_block",
    "prompt_for",
    "thought_prompt",
]
