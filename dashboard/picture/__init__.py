"""What can be read off the live picture.

Sums, room, causes, problems, verdicts. Pure functions; time is an argument.
"""
