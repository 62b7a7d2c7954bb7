"""What pods count for by the fixes: exactly what they are annotated with, terminating and restarted ones too.

The reference does not count terminating pods that it has not seen before (Q-21), counts pods whose init
containers had ended at their peak (Q-22), and never reads the annotations of a known pod again (Q-46).
Nothing of this is restated before a pod comes along that it concerns.
"""

from typing import Any

from scheduler_app.conformance.quirks import held
from scheduler_app.conformance.quirks.held import Amount
from scheduler_app.conformance.world import World
from scheduler_app.core import annotations

Json = dict[str, Any]
Entry = dict[str, Any]


class Accounts:
    def __init__(self, world: World) -> None:
        self._world = world
        self._entries: dict[str, Entry] = {}
        self._told: dict[str, Any] = {}
        self._overview: dict[tuple[str, str], Amount] = {}
        self.differ = False

    def look(self) -> None:
        """Follow the pods as they are now; what cannot be read counts as before."""
        pods = {pod["metadata"]["uid"]: pod for pod in self._world.api.of("pods")}
        for uid in self._entries.keys() - pods.keys():
            del self._entries[uid]
        for uid in self._told.keys() - pods.keys():
            del self._told[uid]
        for uid, pod in pods.items():
            self._follow(uid, pod)

    def after_pass(self) -> None:
        """Keep the use by node and card: the overview is as of the last pass."""
        self._overview = {}
        for entry in self._entries.values():
            for cards in entry["devices"].values():
                for card, amount in cards.items():
                    total = self._overview.setdefault((entry["node"], card), Amount())
                    for key, value in amount.items():
                        total[key] += value

    def pods(self) -> Json:
        return {
            uid: {**entry, "devices": {v: [_shown(v, cards)] for v, cards in entry["devices"].items()}}
            for uid, entry in self._entries.items()
        }

    def quota(self, recorded: Json) -> Json:
        """Return the recorded quota with our use; entries without use or limit are left out."""
        used: dict[tuple[str, str], int] = {}
        for entry in self._entries.values():
            for vendor, cards in entry["devices"].items():
                names = next(b.names for key, b in self._world.backends.items() if key == vendor)
                for resource, key in ((names.mem, "usedmem"), (names.cores, "usedcores")):
                    place = (entry["namespace"], resource)
                    used[place] = used.get(place, 0) + sum(amount[key] for amount in cards.values())
        found = {name: dict(entries) for name, entries in recorded.items()}
        for (namespace, resource), amount in used.items():
            if resource:
                bare = {"limit": 0, "limit_set": False}
                entry = found.setdefault(namespace, {}).get(resource, bare)
                found[namespace][resource] = {**entry, "used": amount}
        for namespace, entries in found.items():
            for resource, entry in entries.items():
                entries[resource] = {**entry, "used": used.get((namespace, resource), 0)}
        return without_unused(found)

    def usage(self, recorded: Json) -> Json:
        return {name: [self._card(name, card) for card in cards] for name, cards in recorded.items()}

    def _card(self, node: str, card: Json) -> Json:
        amount = self._overview.get((node, card["id"]), Amount())
        return {
            **card,
            "used": amount["used"],
            "usedmem": amount["usedmem"],
            "usedcores": amount["usedcores"],
        }

    def _follow(self, uid: str, pod: Json) -> None:
        meta = pod["metadata"]
        given = meta.get("annotations") or {}
        node, phase = given.get(annotations.ASSIGNED_NODE), (pod.get("status") or {}).get("phase")
        texts = dict(held.texts(pod, self._world.backends))
        says = (node, texts)
        has_ended = held.has_ended({"status": pod.get("status") or {}})
        is_new = uid not in self._told
        if node is not None and (meta.get("deletionTimestamp") or has_ended) and is_new:
            self.differ = True
        if not is_new and self._told[uid] != says:
            self.differ = True
        self._told[uid] = says
        if node is None or phase in ("Succeeded", "Failed"):
            self._entries.pop(uid, None)
            return
        try:
            devices = {
                vendor: held.effective(text, held.ends_early(pod), has_ended=has_ended)
                for vendor, text in texts.items()
            }
        except (IndexError, ValueError):
            return
        self._entries[uid] = {
            "name": meta["name"],
            "namespace": meta.get("namespace", ""),
            "node": node,
            "init_released": has_ended,
            "devices": devices,
        }


def _shown(vendor: str, cards: dict[str, Amount]) -> list[Json]:
    return [
        {
            "uuid": card,
            "type": vendor,
            "usedmem": amount["usedmem"],
            "usedcores": amount["usedcores"],
            "slots": amount["used"],
        }
        for card, amount in sorted(cards.items())
    ]


def without_unused(quota: Json) -> Json:
    kept = {
        name: {resource: e for resource, e in entries.items() if e["used"] or e["limit_set"]}
        for name, entries in quota.items()
    }
    return {name: entries for name, entries in kept.items() if entries}
