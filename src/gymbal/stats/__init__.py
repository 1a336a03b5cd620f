"""Numeric functions for score triage: pure, seeded by a generator that is passed in, ignorant of formats."""
