"""The mouth-to-ear laboratory."""
