"""Workers: the calling thread, threads, or Ray actors (`cluster`)."""
