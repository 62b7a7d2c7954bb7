"""Replay of recorded behaviour: cases in, differences out. Reads files and runs the product; changes neither.

``cases.py`` finds and reads the data, ``world.py`` sets up a product over an in-memory API, ``decisions.py``
replays ``filter/``, and ``quirks/`` holds the judges of the decided differences.
"""
