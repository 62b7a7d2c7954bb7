"""Create, read, update, patch, delete: what each does to the store, over HTTP and in the process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from simcluster import errors, patches, resources, strategies
from simcluster.objects import Json, copy, join_key, now, split_key, time_text
from simcluster.resources import Resource
from simcluster.selectors import Predicate
from simcluster.store import Record, Store
from simcluster.strategic import strategic_merge

MERGE, STRATEGIC, JSON_PATCH, APPLY = "merge", "strategic", "json", "apply"

_MOST_EVENTS, _EVENTS_DROPPED = 3000, 500  # a stand-in for their one hour of life


class Admission(Protocol):
    """Changes or refuses a new object; may block on the network, so it is called outside every lock."""

    def admit(self, resource: Resource, body: Json, *, dry_run: bool) -> tuple[Json, list[str]]:
        """Return (the object, warnings); StatusError when it is refused."""


@dataclass(slots=True)
class Options:
    """Of one write: whether it is kept, and the warnings its answer carries."""

    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch and its kind: one of merge, strategic, json, apply."""

    kind: str
    body: Any


@dataclass(frozen=True, slots=True)
class Deletion:
    """What a DELETE asks: seconds of grace (None: the object's own), and what must still hold."""

    grace_seconds: int | None = None
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


class Verbs:
    """The verbs over the store. Bodies that come back are the stored ones: nobody may write to them."""

    def __init__(self, store: Store, admission: Admission) -> None:
        self.store, self._admission = store, admission

    def get(self, resource: Resource, key: str) -> Record:
        record = self.store.get(resource.stored_as, key)
        if record is None:
            raise errors.not_found(resource.qualified, split_key(key)[1])
        return record

    def create(self, resource: Resource, namespace: str, body: Json, options: Options) -> Json:
        body = copy(body)
        strategies.prepare_create(resource, body, namespace)
        self._check_namespace(resource, namespace, body)
        body, warnings = self._admission.admit(resource, body, dry_run=options.dry_run)
        options.warnings += warnings
        strategies.finish_create(resource, body)
        name = body["metadata"]["name"]

        def insert(current: Json | None) -> Json:
            if current is not None:
                raise errors.already_exists(resource.qualified, name)
            return body

        created = self._write(resource, join_key(namespace, name), insert, options)
        if resource.stored_as == "events":
            self._drop_old_events()
        return created

    def update(self, resource: Resource, key: str, body: Json, subresource: str, options: Options) -> Json:
        body = copy(body)
        name = split_key(key)[1]
        if (body.get("metadata") or {}).setdefault("name", name) != name:
            raise errors.bad_request("the name of the object does not match the name on the URL")
        return self._modify(resource, key, lambda current: body, subresource=subresource, options=options)

    def patch(self, resource: Resource, key: str, patch: Patch, subresource: str, options: Options) -> Json:
        if patch.kind == APPLY and self.store.get(resource.stored_as, key) is None:
            body = copy(patch.body)
            body.setdefault("metadata", {})["name"] = split_key(key)[1]
            return self.create(resource, split_key(key)[0], body, options)

        def apply(current: Json) -> Json:
            if patch.kind == JSON_PATCH:
                return patches.json_patch(current, patch.body)
            if not isinstance(patch.body, dict):
                raise errors.bad_request("the patch is not an object")
            merge = patches.merge if patch.kind == MERGE else strategic_merge
            return copy(merge(current, patch.body))

        return self._modify(resource, key, apply, subresource=subresource, options=options)

    def delete(self, resource: Resource, key: str, asked: Deletion) -> Json:
        """Delete, or mark as being deleted; return the last state."""
        if resource.plural == "namespaces" and not asked.dry_run:
            self._empty_namespace(key)

        def remove(current: Json | None) -> Json | None:
            if current is None:
                raise errors.not_found(resource.qualified, split_key(key)[1])
            _check_preconditions(resource, current, asked)
            return _dying(resource, current, asked)

        return self._write(resource, key, remove, Options(dry_run=asked.dry_run))

    def delete_collection(
        self, resource: Resource, namespace: str, predicate: Predicate, asked: Deletion
    ) -> list[Json]:
        """Delete what matches, in one namespace or (namespace empty) in all; return the last states."""
        gone = []
        for record in self.list(resource, namespace, predicate)[0]:
            try:
                meta = record.body["metadata"]
                gone.append(self.delete(resource, join_key(meta.get("namespace", ""), meta["name"]), asked))
            except errors.StatusError as exc:
                if exc.code != 404:
                    raise
        return gone

    def list(self, resource: Resource, namespace: str, predicate: Predicate) -> tuple[list[Record], int]:
        """Return the matching records of one namespace (empty: all), and the version of that picture."""
        records, version = self.store.all(resource.stored_as)
        chosen = [
            record
            for record in records
            if (not namespace or record.body["metadata"].get("namespace") == namespace)
            and predicate(record.body)
        ]
        return chosen, version

    def _modify(
        self,
        resource: Resource,
        key: str,
        make: Callable[[Json], Json],
        *,
        subresource: str,
        options: Options,
    ) -> Json:
        def modify(current: Json | None) -> Json | None:
            if current is None:
                raise errors.not_found(resource.qualified, split_key(key)[1])
            old = copy(current)
            new = make(current)
            _check_version(resource, old, new)
            new = strategies.prepare_update(resource, old, new, subresource)
            new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
            return None if _is_released(new) else new

        return self._write(resource, key, modify, options)

    def _write(
        self, resource: Resource, key: str, change: Callable[[Json | None], Json | None], options: Options
    ) -> Json:
        if not options.dry_run:
            return self.store.change(resource.stored_as, key, change)
        record = self.store.get(resource.stored_as, key)
        return change(copy(record.body) if record else None) or (record.body if record else {})

    def _check_namespace(self, resource: Resource, namespace: str, body: Json) -> None:
        if not resource.namespaced:
            return
        record = self.store.get("namespaces", namespace)
        if record is None:
            raise errors.not_found("namespaces", namespace)
        if record.body["metadata"].get("deletionTimestamp"):
            text = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise errors.forbidden(resource.qualified, body["metadata"].get("name", ""), text)

    def _empty_namespace(self, name: str) -> None:
        def matches(body: Json) -> bool:
            return bool(body["metadata"].get("namespace") == name)

        for resource in resources.TABLE:
            if resource.namespaced and not resource.storage:
                self.delete_collection(resource, name, matches, Deletion(grace_seconds=0))

    def _drop_old_events(self) -> None:
        if self.store.count("events") <= _MOST_EVENTS:
            return
        records = sorted(self.store.all("events")[0], key=lambda record: record.version)
        for record in records[:_EVENTS_DROPPED]:
            meta = record.body["metadata"]
            self.store.change("events", join_key(meta["namespace"], meta["name"]), lambda current: None)


def _check_version(resource: Resource, old: Json, new: Json) -> None:
    """A resourceVersion in a body or a patch is a precondition (K4.5-5)."""
    version = new["metadata"].get("resourceVersion")
    if version and version != old["metadata"]["resourceVersion"]:
        raise errors.conflict(resource.qualified, old["metadata"]["name"])


def _check_preconditions(resource: Resource, current: Json, asked: Deletion) -> None:
    meta = current["metadata"]
    if asked.uid and asked.uid != meta["uid"]:
        text = f"Precondition failed: UID in precondition: {asked.uid}, UID in object meta: {meta['uid']}"
        raise errors.conflict(resource.qualified, meta["name"], text)
    if asked.resource_version and asked.resource_version != meta["resourceVersion"]:
        raise errors.conflict(resource.qualified, meta["name"])


def _dying(resource: Resource, current: Json, asked: Deletion) -> Json | None:
    """Return the object marked as being deleted, or None when it goes at once (K4.5-7)."""
    meta = current["metadata"]
    grace = _grace_seconds(current, asked) if resource.plural == "pods" else 0
    if grace == 0 and not meta.get("finalizers"):
        return None
    if "deletionTimestamp" not in meta or grace < meta.get("deletionGracePeriodSeconds", 0):
        meta["deletionTimestamp"] = time_text(now() + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
    return current


def _grace_seconds(pod: Json, asked: Deletion) -> int:
    finished = (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}
    if finished or not pod["spec"].get("nodeName"):
        return 0
    if asked.grace_seconds is not None:
        return max(asked.grace_seconds, 0)
    return int(pod["spec"].get("terminationGracePeriodSeconds") or 0)


def _is_released(body: Json) -> bool:
    """Whether an object waited only for finalizers that are gone now."""
    meta = body["metadata"]
    waiting = "deletionTimestamp" in meta and not meta.get("deletionGracePeriodSeconds")
    return bool(waiting and not meta.get("finalizers"))
