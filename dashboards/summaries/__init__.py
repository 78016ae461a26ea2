"""What tables and figures are made from: the games, positions and candidates of runs, condensed to a few rows."""
