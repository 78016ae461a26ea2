"""The results database: runs, matches, repeated searches, curves of training, locks and progress."""

DEFAULT_URL = "sqlite:///turnier.db"  # the store of commands and scripts that name none
