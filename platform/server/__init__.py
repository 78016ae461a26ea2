"""Games over the network: the spe_ed server, and our agents as engines of the field's protocols."""
