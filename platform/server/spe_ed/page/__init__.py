"""What viewers of a server see: the live page, and the stream of games that it shows."""
