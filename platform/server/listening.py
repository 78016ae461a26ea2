"""The address at which a server on this machine waits for connections."""

from __future__ import annotations

import socket

from ..core.errors import UserError


def listen(host: str, port: int) -> socket.socket:
    """Returns a listening socket; port 0 is any free one. Raises UserError if it cannot listen there."""
    if not host:  # an empty host would mean all addresses
        raise UserError(
            "a host must be a name or an address, got none; 127.0.0.1 is this machine alone, 0.0.0.0 lets all in."
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as failure:
        raise UserError(f"the server needs a free port, got {host}:{port}: {failure}; choose another.") from None
