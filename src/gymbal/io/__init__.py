"""Bytes in, bytes out: record streams, ledgers, fingerprints, decoding, atomic writing."""
