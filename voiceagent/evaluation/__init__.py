"""Evidence about speculation: churn and verdicts."""
