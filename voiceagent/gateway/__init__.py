"""The engine behind HTTP and WebSocket."""
