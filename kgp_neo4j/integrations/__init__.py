"""Bridges to other tools, each an extra of its own that is imported only by who uses it.

`graphrag` (neo4j-graphrag), `langchain` (LangChain), `notebook` (Jupyter and pandas), `serving` (a
server of the Model Context Protocol) and `py2neo`.
"""

from __future__ import annotations
