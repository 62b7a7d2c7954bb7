"""What every benchmark tells: median, 99th percentile, CPU, and how busy the machine was meanwhile."""

import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence


def median(times: Sequence[float]) -> float:
    return statistics.median(times) if times else 0.0


def p99(times: Sequence[float]) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.99))] if times else 0.0


def told(name: str, parameters: Mapping[str, object], figures: Mapping[str, float | None]) -> None:
    """Print a line for each figure, then everything as one line of JSON."""
    load = os.getloadavg()[0]
    print(f"{name} {' '.join(f'{key}={value}' for key, value in parameters.items())}")
    for key, value in figures.items():
        print(f"  {key:24} {'-' if value is None else format(value, '.3f')}")
    print(f"  load average {load:.1f} on {os.cpu_count()} cores, Python {platform.python_version()}")
    shown = {key: None if value is None else round(value, 4) for key, value in figures.items()}
    print(json.dumps({"benchmark": name, **parameters, **shown, "load": round(load, 2)}), flush=True)
