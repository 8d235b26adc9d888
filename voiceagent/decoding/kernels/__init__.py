"""Packed-weight kernels for the CPU: C++ that is built on first use, and their reference."""
