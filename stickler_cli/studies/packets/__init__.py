"""Compare packets: scans of many documents in one file, which a model splits and classifies."""
