"""The description of the service: as an OpenAPI document, and as a page without a script."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from kgp_neo4j.serve.bodies import Body
from kgp_neo4j.show.html import escaped

__all__ = ["Described", "docs_page", "openapi"]

_PROBLEMS = {
    "400": "something in the request is wrong",
    "401": "a token is needed",
    "403": "the token may not do this",
    "404": "not there, or not to be seen with this token",
    "422": "the body is not as described",
    "429": "too much to do; Retry-After says when to come again",
    "503": "the database does not answer",
    "504": "it took longer than it may",
}
_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "status": {"type": "integer"},
                "what": {"type": "string"},
                "hint": {"type": "string"},
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Described:
    """What is said of one way to call the service.

    `right` is the one that a token needs, empty where none is; `events` are those of its stream.
    """

    method: str
    path: str
    summary: str
    right: str = ""
    body: type[Body] | None = None
    query: tuple[str, ...] = ()
    file: bool = False
    events: tuple[str, ...] = ()
    gives: str = "application/json"
    status: int = 200
    optional: dict[str, str] = field(default_factory=dict)


def openapi(calls: Iterable[Described]) -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kgp-neo4j",
            "version": metadata.version("kgp-neo4j"),
            "description": "Questions over documents and knowledge graphs, with evidence.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas | {"Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(call: Described, schemas: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {call.gives: {}}
    if call.events:
        content["text/event-stream"] = {
            "schema": {"type": "string", "description": f"events: {', '.join(call.events)}"}
        }
    problems = {
        status: {
            "description": said,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        }
        for status, said in _PROBLEMS.items()
    }
    made: dict[str, Any] = {
        "summary": call.summary,
        "parameters": [
            {
                "name": name,
                "in": "path" if f"{{{name}}}" in call.path else "query",
                "required": name not in call.optional,
                "schema": {"type": "string"},
                **({"description": call.optional[name]} if name in call.optional else {}),
            }
            for name in (*_in_path(call.path), *call.query, *call.optional)
        ],
        "responses": {str(call.status): {"description": "done", "content": content}}
        | (problems if call.right else {}),
    }
    if call.right:
        made["security"] = [{"token": []}, {}]
        made["description"] = f"A token needs the right `{call.right}`."
    if call.body is not None:
        schemas[call.body.__name__] = call.body.model_json_schema()
        schema = {"$ref": f"#/components/schemas/{call.body.__name__}"}
        made["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    if call.file:
        schema = {"type": "string", "format": "binary"}
        made["requestBody"] = {
            "required": True,
            "content": {"application/octet-stream": {"schema": schema}},
        }
    return made


def _in_path(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def docs_page(calls: Iterable[Described]) -> str:
    """Return the same description as a page for people; its style is the work page's."""
    rows = "".join(_section(call) for call in calls)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>kgp-neo4j: the service</title>'
        '<link rel="stylesheet" href="/static/style.css"></head><body class="reference"><main>'
        '<h1>The service</h1><p>As <a href="/openapi.json">OpenAPI document</a>; '
        'the <a href="/">page to work with</a>. Where the service has tokens, send one as '
        f"<code>Authorization: Bearer TOKEN</code>.</p>{rows}</main></body></html>\n"
    )


def _section(call: Described) -> str:
    said = [f"<h2><code>{escaped(f'{call.method} {call.path}')}</code></h2>"]
    said.append(f"<p>{escaped(call.summary)}</p><ul>")
    if call.right:
        said.append(f"<li>right: <code>{call.right}</code></li>")
    for name in (*call.query, *call.optional):
        about = f", {call.optional[name]}" if name in call.optional else ""
        said.append(f"<li>in the address: <code>{escaped(name)}</code>{escaped(about)}</li>")
    if call.file:
        said.append("<li>body: the bytes of a file</li>")
    if call.events:
        said.append(f"<li>events: {escaped(', '.join(call.events))}</li>")
    said.append("</ul>")
    if call.body is not None:
        schema = call.body.model_json_schema()
        needed = schema.get("required", [])
        lines = "".join(
            f"<tr><td><code>{escaped(name)}</code></td><td>{escaped(_kind(about))}"
            f"{'' if name in needed else ', default ' + escaped(json.dumps(about.get('default')))}"
            f"</td><td>{escaped(about.get('description', ''))}</td></tr>"
            for name, about in schema["properties"].items()
        )
        said.append(f"<table>{lines}</table>")
    return "".join(said)


def _kind(about: dict[str, Any]) -> str:
    if "enum" in about:
        return " | ".join(map(str, about["enum"]))
    if "anyOf" in about:
        return " or ".join(_kind(each) for each in about["anyOf"])
    limits = " to ".join(str(about[key]) for key in ("minimum", "maximum") if key in about)
    letters = f" of at most {about['maxLength']} letters" if "maxLength" in about else ""
    return f"{about.get('type', '')}{letters}{' from ' if limits else ''}{limits}"
