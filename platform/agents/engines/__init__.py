"""Programs that play: engines which speak UCI, GTP or JSON lines on standard input and output."""
