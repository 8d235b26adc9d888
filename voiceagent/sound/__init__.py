"""Sound as samples: resampling, files, playout clock, onset detection."""
