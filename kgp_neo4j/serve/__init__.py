"""Serve: requests over HTTP in; answers, events and a page to work with out."""

from kgp_neo4j.environment.kinds import is_installed, needs

# Looked up here once, so that the modules of this folder may import them outright.
with needs("serve", "the service"):
    for module in ("fastapi", "mcp", "prometheus_client", "pydantic", "uvicorn"):
        if not is_installed(module):
            raise ModuleNotFoundError(name=module)
