"""The reader's network: a question and passages in; spans with their scores out.

The weights and their card are beside the modules.
"""
