"""`python -m turnier` is the command `turnier`, for a Python whose scripts are not in PATH."""

from turnier.commands.start import main

main()
