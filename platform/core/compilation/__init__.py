"""How kernels are compiled: once on a machine, and shown where it takes long."""
