"""How the scanner of :mod:`voiceagent.core.boundary` reads: one module for each sort of mark."""
