"""Exports of pivots: one file a target, from rows to bytes."""
