"""The agents that play: none of them is needed to import the core."""
