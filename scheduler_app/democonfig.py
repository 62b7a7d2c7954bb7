"""What the demo runs with: ports and the flags of the process."""

from dataclasses import dataclass
from typing import Any

from scheduler_app import vendortable

SCHEDULER = "hami-scheduler"


@dataclass(frozen=True, slots=True)
class Ports:
    """All ports of the demo, from one number."""

    console: int

    @property
    def api(self) -> int:
        return self.console + 43

    @property
    def extender(self) -> int:
        return self.console + 80

    @property
    def metrics(self) -> int:
        return self.console + 95


def flags(ports: Ports) -> dict[str, Any]:
    return {
        "console_bind": f"127.0.0.1:{ports.console}",
        "http_bind": f"127.0.0.1:{ports.extender}",
        "metrics_bind_address": f"127.0.0.1:{ports.metrics}",
        "scheduler_name": SCHEDULER,
        "device_config_file": str(vendortable.CONFIG),
        "kube_qps": 200.0,
        "kube_burst": 400,
        **{name.replace("-", "_"): True for name in vendortable.all_enabled()},
    }
