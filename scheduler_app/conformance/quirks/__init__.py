"""Judges of the decided differences (architecture.md, section 7), a module a rule, named after the quirk."""
