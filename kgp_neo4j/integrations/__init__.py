"""Integrations: a corpus or an answer in; what LangChain, MCP and other tools take out."""
