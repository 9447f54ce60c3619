"""The terminal trade."""
