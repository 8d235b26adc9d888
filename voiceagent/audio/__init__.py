"""Local sound: sound-card and file transports."""
