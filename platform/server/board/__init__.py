"""The board in the browser: replaying stored matches, playing against agents, analysing positions."""
