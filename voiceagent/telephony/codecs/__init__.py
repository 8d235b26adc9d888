"""One pure codec for each provider: bytes or text in, events out; sound and commands to bytes."""
