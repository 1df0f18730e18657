"""The errors that kgp-neo4j raises: `KgpError` is the base of all."""


class KgpError(Exception):
    """The base of all errors: what happened, where, and what to do about it.

    `where` is a file, a file and line, or a node; `hint` is one sentence with the remedy.
    """

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.what = what
        self.where = where
        self.hint = hint
        super().__init__(what)

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if not self.hint:
            return text
        return f"{text}{'' if text.endswith(('.', '!', '?')) else '.'} {self.hint}"


class ConfigurationError(KgpError):
    """Settings or options that do not fit together."""


class DatabaseError(KgpError):
    """The database could not be reached, or refused a query."""


class CapabilityError(DatabaseError):
    """The database lacks a plugin (GDS) that the command needs."""


class ServerError(KgpError):
    """The embedded database could not be fetched, started or stopped."""


class QueryFileError(KgpError):
    """A file under cypher/ breaks its own header."""


class InputError(KgpError):
    """A file, a line or a text that cannot be used."""


class CorpusError(KgpError):
    """A corpus or a document that does not exist, or is not ready for the command."""


class TraceError(KgpError):
    """A stored traversal that does not exist, or an id that is too short to be unique."""


class GraphError(KgpError):
    """A knowledge graph that does not exist, or cannot be used as it is."""


def no_corpus(name: str) -> CorpusError:
    """Return the error for a corpus that does not exist."""
    hint = "`kgp-neo4j corpora` lists them; `kgp-neo4j load` makes one."
    return CorpusError(f"there is no corpus named {name!r}", hint=hint)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, to be quoted in ours."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else repr(error)


class StoppedError(KgpError):
    """Work that was given up, or that took longer than it may."""


class EncoderError(KgpError):
    """An encoder that cannot be loaded, or that does not match the corpus."""


class ModelError(KgpError):
    """A language model that cannot be loaded, trained or reached."""


class ContextError(ModelError):
    """A prompt that is longer than the model's context."""
