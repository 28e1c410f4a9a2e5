"""Compare packets.

A packet is a file with scans of many documents, which a model splits and classifies.
"""
