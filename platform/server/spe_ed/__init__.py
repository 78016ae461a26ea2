"""The spe_ed server, its live page, and our agents as clients of such servers."""
