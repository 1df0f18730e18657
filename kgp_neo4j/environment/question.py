"""What a question may be, wherever it is asked."""

from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError

#: Most characters of a question; those of a dialogue count together.
LONGEST_QUESTION = 10_000
#: Characters of one that are read for names, parts, pages and tables; a longer one is pasted text.
LONGEST_ASKED = 1_000


def check_question(question: str) -> None:
    """Raise ConfigurationError for a question that is too long or not Unicode text."""
    if len(question) > LONGEST_QUESTION:
        hint = f"Ask with {LONGEST_QUESTION:,} at most, and load longer texts as documents."
        raise ConfigurationError(f"the question has {len(question):,} characters", hint=hint)
    if not is_storable(question):
        raise ConfigurationError("the question is not valid Unicode", hint="Use UTF-8.")
