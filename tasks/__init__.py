"""The built-in packs, one folder each. Data only."""
