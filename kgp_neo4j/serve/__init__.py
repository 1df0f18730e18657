"""Serve: requests over HTTP in; answers, events and a page to work with out."""
