"""The verbs as HTTP: parameters and bodies in, objects, lists, tables and watch streams out."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import orjson

from simcluster import bindings, bodies, errors, eventforms, resources
from simcluster.httpd import Reply, Request
from simcluster.objects import Json
from simcluster.pages import Page, Pages
from simcluster.routes import Route
from simcluster.selectors import Predicate, field_selector, label_selector
from simcluster.store import Record
from simcluster.tables import TableForm
from simcluster.verbs import APPLY, Deletion, Options, Verbs
from simcluster.watching import Watch, WatchQuery

_EVENTS_GROUP = "events.k8s.io"
_THREADS = 8  # creations wait for the webhook there; everything else is memory work in the loop
_LONG_WATCH_SECONDS = (1800, 3600)  # where a client names no timeout (K3.2-3)

Handler = Callable[[Route, Request], Awaitable[Reply]]


class Handlers:
    """One coroutine a verb, and the watches that are open."""

    def __init__(self, verbs: Verbs, *, bookmark_seconds: float) -> None:
        self._verbs, self._bookmark_seconds = verbs, bookmark_seconds
        self._pages = Pages()
        self.watches: set[Watch] = set()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="simcluster-create")
        self._table: dict[str, Handler] = {
            "get": self._get,
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    def verb(self, name: str) -> Handler:
        return self._table[name]

    def forget(self) -> None:
        """Make every version and every continue token handed out so far too old."""
        self._verbs.store.forget_history()
        self._pages.forget()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def _get(self, route: Route, request: Request) -> Reply:
        record = self._verbs.get(route.resource, route.key)
        return _object_reply(route, request, record.body, raw=_raw(route, record))

    async def _list(self, route: Route, request: Request) -> Reply:
        self._asked_version(request)
        limit, token = _integer(request, "limit"), request.query.get("continue", "")
        if token:
            page = self._pages.next(token, limit)
        else:
            found, version = self._verbs.list(route.resource, route.namespace, _predicate(route, request))
            page = self._pages.first(found, version, limit)
        table = _table_form(request)
        if table:
            return bodies.json_reply(table.render(route.resource, page.records, page.metadata))
        return Reply(200, _list_text(route, page))

    async def _watch(self, route: Route, request: Request) -> Reply:
        initial = request.query.get("sendInitialEvents") == "true"
        version = self._asked_version(request)
        query = WatchQuery(
            resource=route.resource,
            predicate=_predicate(route, request),
            since=None if initial else version or None,
            timeout_seconds=_integer(request, "timeoutSeconds") or random.uniform(*_LONG_WATCH_SECONDS),  # noqa: S311
            render=_renderer(route, request),
            bookmarks=request.query.get("allowWatchBookmarks") in {"1", "true"},
            announce_initial=initial,
        )
        watch = Watch(
            self._verbs.store, query, bookmark_seconds=self._bookmark_seconds, register=self.watches
        )
        return Reply(200, chunks=watch.chunks())

    async def _create(self, route: Route, request: Request) -> Reply:
        body, options = bodies.read_object(request), _options(request)
        if route.subresource == "binding":
            key = route.key if route.name else f"{route.namespace}/{body['metadata']['name']}"
            bound = bindings.bind(self._verbs, key, body, dry_run=options.dry_run)
            return bodies.json_reply(bound, status=201)
        if route.subresource == "eviction":
            return bodies.json_reply(bindings.evict(self._verbs, route.key, body), status=201)
        resource = route.resource
        if resource.group == _EVENTS_GROUP:
            resource, body = resources.by_name("events"), eventforms.to_core(body)
        created = await self._in_thread(lambda: self._verbs.create(resource, route.namespace, body, options))
        return _written(route, request, created, options, status=201)

    async def _update(self, route: Route, request: Request) -> Reply:
        body, options = bodies.read_object(request), _options(request)
        resource = route.resource
        if resource.group == _EVENTS_GROUP:
            resource, body = resources.by_name("events"), eventforms.to_core(body)
        stored = self._verbs.update(resource, route.key, body, route.subresource, options)
        return _written(route, request, stored, options)

    async def _patch(self, route: Route, request: Request) -> Reply:
        patch, options = bodies.read_patch(request), _options(request)
        resource = route.resource
        if resource.group == _EVENTS_GROUP:
            resource = resources.by_name("events")
            patch = type(patch)(patch.kind, eventforms.to_core_patch(patch.body))
        if patch.kind == APPLY and self._verbs.store.get(resource.stored_as, route.key) is None:
            created = await self._in_thread(
                lambda: self._verbs.patch(resource, route.key, patch, "", options)
            )
            return _written(route, request, created, options, status=201)
        stored = self._verbs.patch(resource, route.key, patch, route.subresource, options)
        return _written(route, request, stored, options)

    async def _delete(self, route: Route, request: Request) -> Reply:
        body = self._verbs.delete(route.resource, route.key, _deletion(request))
        meta = body["metadata"]
        if route.resource.plural == "pods" or meta.get("deletionTimestamp"):
            return bodies.json_reply(body)
        status = errors.success(name=meta["name"], kind=route.resource.plural, uid=meta["uid"])
        return bodies.json_reply(status)

    async def _delete_collection(self, route: Route, request: Request) -> Reply:
        predicate = _predicate(route, request)
        gone = self._verbs.delete_collection(route.resource, route.namespace, predicate, _deletion(request))
        return bodies.json_reply(_list_head(route) | {"metadata": {}, "items": gone})

    async def _in_thread(self, work: Callable[[], Json]) -> Json:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _asked_version(self, request: Request) -> int:
        """Return the resourceVersion parameter, 0 without one; StatusError 504 when it lies ahead."""
        text = request.query.get("resourceVersion", "") or "0"
        if not text.isdigit():
            raise errors.bad_request(f"invalid resource version {text!r}")
        if int(text) > self._verbs.store.version:
            raise errors.too_large_version(int(text), self._verbs.store.version)
        return int(text)


def _predicate(route: Route, request: Request) -> Predicate:
    """Return what the selectors and, in a watch, the namespace and name of the path let through."""
    by_label = label_selector(request.query.get("labelSelector", ""))
    by_field = field_selector(request.query.get("fieldSelector", ""), plural=route.resource.plural)

    def matches(body: Json) -> bool:
        in_namespace = not route.namespace or body["metadata"].get("namespace") == route.namespace
        return in_namespace and by_label(body) and by_field(body)

    return matches


def _renderer(route: Route, request: Request) -> Callable[[Record], bytes]:
    table = _table_form(request)
    if table is None:
        return lambda record: _raw(route, record)
    form = table

    def render(record: Record) -> bytes:
        metadata = {"resourceVersion": str(record.version)}
        return orjson.dumps(form.render(route.resource, [record], metadata))

    return render


def _raw(route: Route, record: Record) -> bytes:
    if route.resource.group == _EVENTS_GROUP:
        return orjson.dumps(eventforms.to_new(record.body))
    return record.raw


def _list_head(route: Route) -> Json:
    return {"kind": f"{route.resource.kind}List", "apiVersion": route.resource.api_version}


def _list_text(route: Route, page: Page) -> bytes:
    head = orjson.dumps(_list_head(route) | {"metadata": page.metadata})
    new_form = route.resource.group == _EVENTS_GROUP
    items = [_raw(route, record) if new_form else record.item for record in page.records]
    return head[:-1] + b',"items":[' + b",".join(items) + b"]}"


def _written(route: Route, request: Request, body: Json, options: Options, *, status: int = 200) -> Reply:
    reply = _object_reply(route, request, body, raw=None)
    warnings = bodies.json_reply({}, warnings=options.warnings).headers
    return Reply(status, reply.body, headers=warnings)


def _object_reply(route: Route, request: Request, body: Json, *, raw: bytes | None) -> Reply:
    table = _table_form(request)
    if table:
        metadata = {"resourceVersion": body["metadata"].get("resourceVersion", "")}
        return bodies.json_reply(table.render(route.resource, [Record(body, 0)], metadata))
    if raw is None:
        raw = _raw(route, Record(body, 0))
    return Reply(200, raw)


def _table_form(request: Request) -> TableForm | None:
    return TableForm.asked(request.headers.get("accept", ""), request.query.get("includeObject", ""))


def _integer(request: Request, name: str) -> int:
    text = request.query.get(name, "") or "0"
    if not text.isdigit():
        raise errors.bad_request(f"{name}: expected a whole number, got {text!r}")
    return int(text)


def _options(request: Request) -> Options:
    return Options(dry_run=request.query.get("dryRun") == "All")


def _deletion(request: Request) -> Deletion:
    """Read DeleteOptions from the body, or what stands in their place in the query."""
    asked = bodies.read_options(request)
    grace = asked.get("gracePeriodSeconds")
    if grace is None and "gracePeriodSeconds" in request.query:
        grace = _integer(request, "gracePeriodSeconds")
    preconditions = asked.get("preconditions") or {}
    return Deletion(
        grace_seconds=grace,
        uid=preconditions.get("uid", ""),
        resource_version=preconditions.get("resourceVersion", ""),
        dry_run="All" in (asked.get("dryRun") or request.query.get("dryRun") or ""),
    )
