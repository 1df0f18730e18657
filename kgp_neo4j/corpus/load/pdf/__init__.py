"""PDF: a file in; its text in reading order, its pages and its tables out."""
