"""Decides whether candidates pass: what is weighed, one decision, all of them together."""
