"""Workers: the calling thread, threads, or Ray actors on a cluster; only this package imports ray."""
