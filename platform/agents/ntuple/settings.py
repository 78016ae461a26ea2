"""What learning kernels read as `settings`; td.py says what each means."""

from __future__ import annotations

DISCOUNT, TRACE, METHOD, FROM_RANDOM, HORIZON, RESTART, NUM_SETTINGS = range(7)
