"""Playing many episodes: plan, executor, store."""
