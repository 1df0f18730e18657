"""Models: texts in; vectors, spans and scores out, on the CPU without torch."""
