"""Models: the encoders that turn text into vectors (readers and language models come here too)."""

from kgp_neo4j.models.encoder import DEFAULT_ENCODER, Encoder, load_encoder

__all__ = ["DEFAULT_ENCODER", "Encoder", "load_encoder"]
