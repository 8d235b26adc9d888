"""The pure core: ledger, boundaries, committer, streams. Standard library only, sans-IO."""
