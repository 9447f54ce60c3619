"""The docqa trade."""
