"""Asks a policy behind an OpenAI-compatible endpoint for one-turn samples; never judges what it says."""
