"""Vega, Vega-Lite and vega-embed as one script, from the package that also draws the pictures of reports."""

from __future__ import annotations

import gzip
from functools import cache

# `window.vegaEmbed` is all that the pages use.
SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def script() -> bytes:
    """Returns the script, compressed with gzip; the first call takes over a second."""
    import vl_convert

    return gzip.compress(str(vl_convert.javascript_bundle(SNIPPET)).encode(), 6)
