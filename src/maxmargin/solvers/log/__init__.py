"""The log objective: conditional random fields over any structure."""
