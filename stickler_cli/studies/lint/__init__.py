"""Find mistakes in a schema and its ground truth before they lead to wrong figures."""
