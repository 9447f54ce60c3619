"""Container images, one folder each. Data only."""
