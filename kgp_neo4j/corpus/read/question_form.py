"""Tell questions that a few words answer from those that only sentences answer."""

import regex

#: "How many" and "how old" ask for a few words.
_ACCOUNT = regex.compile(
    r"(?i)^\W*(?:(?:and|so|but)\s+)?(?:why|explain|describe|for what reason|in what way|"
    r"what (?:happened|(?:is|was) the (?:reason|purpose|cause)\b)|"
    r"how\s+(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had|come|to))"
    r"|,\s*(?:and\s+)?(?:why|how) d(?:oes|id|o)\b"
)
_OVERVIEW = regex.compile(
    r"(?i)\b(?:gist|summar\w+|sum up|overview|in short|in brief|briefly|boil|nutshell|"
    r"(?:main|key) points?)\b|^what(?:'s| is| are)\b.*\babout\W*$|"
    r"^what(?:'s| is| are) in (?:this|these|those|the|all)\b"
)


def asks_for_an_overview(question: str) -> bool:
    """Return whether a question asks what documents are about, which they always tell."""
    return _OVERVIEW.search(question) is not None


def asks_for_an_account(question: str) -> bool:
    """Return whether a question asks why or how: a sentence answers it, and a few words do not."""
    return _ACCOUNT.search(question) is not None


def is_in_latin_script(text: str) -> bool:
    """Return whether most words of a text are Latin; "Bridge노드의" is two words."""
    latin = regex.findall(r"\p{Latin}+", text)
    others = regex.findall(r"[\p{L}--\p{Latin}]+", text, regex.V1)
    return len(latin) > len(others) or not others
