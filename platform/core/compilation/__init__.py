"""How kernels are compiled: once on a machine, and shown where it takes long; and what our code is as a whole."""
