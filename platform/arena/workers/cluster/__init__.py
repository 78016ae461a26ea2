"""Ray: its actors as workers, on this machine or on a cluster; only this package imports ray."""
