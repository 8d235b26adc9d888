"""A voice agent that never says what the model took back."""

__version__ = "0.1.0"
