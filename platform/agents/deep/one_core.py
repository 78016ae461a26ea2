"""Makes jax compute on one core; import it before jax.

On several threads XLA may add numbers in a different order each time, but a resumed training must end with the same
weights, bit for bit.
"""

from __future__ import annotations

import os

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
if _ONE_THREAD not in os.environ.get("XLA_FLAGS", ""):  # read when jax begins to compute
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD} intra_op_parallelism_threads=1".strip()
os.environ.setdefault("JAX_PLATFORMS", "cpu")
