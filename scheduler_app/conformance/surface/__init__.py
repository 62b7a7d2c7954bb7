"""Replay of ``surface/``: requests, passes, texts and numbers, each step's result against the recorded one.

``stage.py`` runs the steps, ``calls.py`` and its neighbours answer for pure functions, ``inside.py`` shows
the state, ``outside.py`` what went to the API, ``results.py`` compares, ``fixes.py`` knows the decided fixes.
"""
