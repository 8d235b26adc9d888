"""The speculative decoding engine."""
