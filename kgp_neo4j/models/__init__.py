"""Models: encoders, the trees that a learned agent judges by, language models, the reader."""

from kgp_neo4j.models.encoder import DEFAULT_ENCODER, Encoder, load_encoder
from kgp_neo4j.models.mdr import MdrEncoder, load_mdr, passage_text
from kgp_neo4j.models.trees import Scorer, Trees

__all__ = [
    "DEFAULT_ENCODER",
    "Encoder",
    "MdrEncoder",
    "Scorer",
    "Trees",
    "load_encoder",
    "load_mdr",
    "passage_text",
]
