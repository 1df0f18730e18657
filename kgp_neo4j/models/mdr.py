"""MDR encoders: from a question and the passages so far to the passage that comes next.

Multi-hop dense retrieval (Xiong et al., ICLR 2021), from which KGP makes its KNN-MDR graph and one
of its agents (section 3 and Table 2). `kgp-neo4j train mdr` writes the folders read here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr_folder import DEFAULT_MDR, Lengths
from kgp_neo4j.types.errors import EncoderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["DEFAULT_MDR", "MdrEncoder", "QueryForm", "load_mdr", "passage_text"]

#: Special tokens that the model adds to a text.
_ENDS = 2


def passage_text(title: str, text: str) -> str:
    """Return a passage in the form that encoders read: its document's title, then its text."""
    return f"{title}. {text}"


@dataclass(frozen=True, slots=True)
class QueryForm:
    """Build the input of an MDR encoder, the same in training and in use."""

    tokenizer: Tokenizer
    lengths: Lengths

    def passages(self, passages: Sequence[tuple[str, str]]) -> list[str]:
        """Return passages, given as (title, text), cut to the passage length."""
        return self._cut([passage_text(*p) for p in passages], self.lengths.passage)

    def queries(self, queries: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[str]:
        """Return queries, each a question and the passages so far, in the order of the path.

        The question comes first, cut to its length; the passages share the rest of the query
        evenly, so that earlier ones never push the last one out.
        """
        questions = self._cut([question for question, _ in queries], self.lengths.question)
        # The last of the special tokens that the model puts around a text.
        special = self.tokenizer.encode("").ids
        separator = self.tokenizer.id_to_token(special[-1]) if special else "\n"
        inputs = []
        for question, (_, before) in zip(questions, queries, strict=True):
            # Each passage has a separator.
            room = self.lengths.query - self.lengths.question - _ENDS - len(before)
            share = max(room // max(len(before), 1), 1)
            texts = self._cut([passage_text(*p) for p in before], share)
            inputs.append(f" {separator} ".join([question, *texts]))
        return inputs

    def _cut(self, texts: Sequence[str], tokens: int) -> list[str]:
        encodings = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ends = [max((end for _, end in e.offsets[:tokens]), default=0) for e in encodings]
        return [text[:end] for text, end in zip(texts, ends, strict=True)]


class MdrEncoder:
    """An encoder of passages and of queries (a question with the passages before) in one space."""

    def __init__(self, encoder: Encoder, lengths: Lengths) -> None:
        self.name = encoder.name
        self.dimension = encoder.dimension
        #: The first digits of its weights' SHA-256: these change where a folder's name stays the
        #: same.
        self.fingerprint = encoder.fingerprint
        self.form = QueryForm(encoder.tokenizer, lengths)
        self._encoder = encoder

    def encode_passages(
        self,
        passages: Sequence[tuple[str, str]],
        *,
        done: Callable[[int], object] | None = None,
    ) -> NDArray[np.float32]:
        """Return unit vectors, shape (passages, dimension), of passages given as (title, text)."""
        return self._encoder.encode(self.form.passages(passages), done=done)

    def encode_queries(
        self, queries: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    ) -> NDArray[np.float32]:
        """Return unit vectors, shape (queries, dimension); the passages nearest to one should come
        next.
        """
        return self._encoder.encode(self.form.queries(queries))


def load_mdr(folder: str = DEFAULT_MDR) -> MdrEncoder:
    """Load the bundled MDR encoder, or one that `kgp-neo4j train mdr` wrote to a folder.

    Raises EncoderError where the folder does not exist, is of another kind, or was damaged.
    """
    encoder = load_encoder(folder)
    if encoder.lengths is None:
        raise EncoderError(
            "this encoder was not trained to predict the next passage",
            where=folder,
            hint="Make one with `kgp-neo4j train mdr`, and give its folder.",
        )
    return MdrEncoder(encoder, encoder.lengths)
