"""Spoken conversations over the gateway's WebSocket, in pipecat's RTVI protocol."""
