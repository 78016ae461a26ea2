"""The data of tables and figures: the games, positions and candidates of runs, condensed to a few rows."""
