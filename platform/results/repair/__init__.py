"""Inspection and repair of stores that may be damaged: `turnier doctor`."""
