"""One module for each docqa task of the starter pack; `make(folder)` writes its documents."""
