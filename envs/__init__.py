"""The environments: one folder a trade, and the loop they share."""
