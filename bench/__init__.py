"""Benchmarks: ``python -m bench.NAME``. Each prints lines for people and, last, one line of JSON.

What the figures mean, and the ones to beat, are in ``docs/performance.md``.
"""
