"""Read: a question and passages in; a span, yes, no or nothing out, and sentences."""
