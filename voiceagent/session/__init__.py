"""One conversation as a pipecat pipeline."""
