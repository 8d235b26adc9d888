"""Telephone lines: media-stream codecs and their WebSocket routes."""
