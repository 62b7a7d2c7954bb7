"""The tables kubectl prints: the server chooses the columns and makes the cells (K4.5-4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simcluster import columns
from simcluster.columns import Column
from simcluster.objects import Json
from simcluster.resources import Resource
from simcluster.store import Record

_PARTIAL = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}


@dataclass(frozen=True, slots=True)
class TableForm:
    """How a client wants its tables: version, and what stands beside the cells (None, Metadata, Object)."""

    version: str = "v1"
    include: str = "Metadata"

    @classmethod
    def asked(cls, accept: str, include: str) -> "TableForm | None":
        """Read an Accept header; None when the client wants plain objects first."""
        first = accept.partition(",")[0].replace(" ", "").split(";")
        parameters = dict(part.split("=", 1) for part in first[1:] if "=" in part)
        if first[0] != "application/json" or parameters.get("as") != "Table":
            return None
        return cls(parameters.get("v", "v1"), include or "Metadata")

    def render(self, resource: Resource, records: list[Record], metadata: Json) -> Json:
        """Return the ``Table`` of the records."""
        shown = columns.of(resource.plural)
        return {
            "kind": "Table",
            "apiVersion": f"meta.k8s.io/{self.version}",
            "metadata": metadata,
            "columnDefinitions": [_definition(column) for column in shown],
            "rows": [self._row(shown, record.body) for record in records],
        }

    def _row(self, shown: tuple[Column, ...], body: Json) -> Json:
        row: Json = {"cells": [_cell(column.cell, body) for column in shown]}
        if self.include == "Object":
            row["object"] = body
        elif self.include == "Metadata":
            row["object"] = _PARTIAL | {"metadata": body["metadata"]}
        return row


def _definition(column: Column) -> Json:
    shape = "name" if column.name == "Name" else ""
    definition: Json = {"name": column.name, "type": column.type, "format": shape}
    return definition | {"description": column.name, "priority": column.priority}


def _cell(cell: Callable[[Json], Any], body: Json) -> Any:
    value = cell(body)
    return "<none>" if value in {None, ""} else value
