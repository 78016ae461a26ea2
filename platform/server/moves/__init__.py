"""The best move of any position of one game, over HTTP."""
