"""Model files: manifest, fetch, verify, cache."""
