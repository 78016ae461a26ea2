"""Compilation of kernels, once on a machine, with a bar if it takes long; and the digest of our code as a whole."""
