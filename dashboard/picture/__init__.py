"""What can be read off the live picture: sums, room, causes, problems, verdicts. Pure functions; time is an argument."""
