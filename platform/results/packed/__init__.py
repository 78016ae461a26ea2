"""Short games of compiled agents, a thousand and more per row of the database; see docs/architecture.md."""
