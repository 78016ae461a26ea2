"""Vega, Vega-Lite and vega-embed as one script, from the package that also draws the pictures of reports."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from functools import cache

# `window.vegaEmbed` is all that the pages use.
PRINTED = "import vl_convert; print(vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;'))"
_making = threading.Lock()


def script() -> bytes:
    """Returns the script, compressed with gzip; the first call takes over a second."""
    with _making:
        return _made()


@cache
def _made() -> bytes:
    # The package brings a JavaScript engine, whose memory a process of its own gives back.
    made = subprocess.run([sys.executable, "-c", PRINTED], capture_output=True, check=True)
    return gzip.compress(made.stdout, 6)
