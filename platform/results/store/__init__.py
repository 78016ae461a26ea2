"""The results database: runs, matches, repeated searches, curves of training, locks and progress."""
