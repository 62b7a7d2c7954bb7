"""The API for callers in the process: the same verbs by plural names and ``"namespace/name"`` keys."""

from collections.abc import Iterable
from typing import Any

from simcluster import bindings, resources
from simcluster.objects import Json, copy, split_key
from simcluster.selectors import field_selector, label_selector
from simcluster.verbs import MERGE, Deletion, Options, Patch, Verbs

Objects = list[Json]


class Api:
    """What comes back is a copy and may be changed; refusals are ``StatusError`` as over HTTP."""

    def __init__(self, verbs: Verbs) -> None:
        self.verbs = verbs

    def get(self, resource: str, key: str) -> Json:
        return copy(self.verbs.get(resources.by_name(resource), key).body)

    def find(self, resource: str, key: str) -> Json | None:
        """Return the object, or None when there is none."""
        record = self.verbs.store.get(resources.by_name(resource).stored_as, key)
        return copy(record.body) if record else None

    def create(self, resource: str, body: Json, *, namespace: str = "", dry_run: bool = False) -> Json:
        """Create; the namespace is the object's own, else the given one, else ``default``."""
        row = resources.by_name(resource)
        home = (body.get("metadata") or {}).get("namespace") or namespace or "default"
        options = Options(dry_run=dry_run)
        return copy(self.verbs.create(row, home if row.namespaced else "", body, options))

    def update(self, resource: str, key: str, body: Json, *, subresource: str = "") -> Json:
        row = resources.by_name(resource)
        return copy(self.verbs.update(row, key, body, subresource, Options()))

    def patch(
        self,
        resource: str,
        key: str,
        patch: Any,
        *,
        kind: str = MERGE,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Json:
        """Patch; kind is one of merge, strategic, json, apply."""
        row, options = resources.by_name(resource), Options(dry_run=dry_run)
        return copy(self.verbs.patch(row, key, Patch(kind, patch), subresource, options))

    def delete(self, resource: str, key: str, *, grace_seconds: int | None = None) -> Json:
        return copy(
            self.verbs.delete(resources.by_name(resource), key, Deletion(grace_seconds=grace_seconds))
        )

    def bind(self, key: str, node: str) -> Json:
        meta = {"name": split_key(key)[1]}
        return bindings.bind(self.verbs, key, {"metadata": meta, "target": {"kind": "Node", "name": node}})

    def exists(self, resource: str, key: str) -> bool:
        return self.verbs.store.get(resources.by_name(resource).stored_as, key) is not None

    def keys(self, resource: str) -> Iterable[str]:
        """Return the keys of all objects, sorted."""
        records = self.verbs.store.all(resources.by_name(resource).stored_as)[0]
        return [
            "/".join(
                filter(None, (record.body["metadata"].get("namespace"), record.body["metadata"]["name"]))
            )
            for record in records
        ]

    def list(self, resource: str, *, namespace: str = "", labels: str = "", fields: str = "") -> Objects:
        """Return the objects of one namespace, or of all, that pass both selectors."""
        row = resources.by_name(resource)
        by_label, by_field = label_selector(labels), field_selector(fields, plural=row.plural)
        found, _ = self.verbs.list(row, namespace, lambda body: by_label(body) and by_field(body))
        return [copy(record.body) for record in found]
