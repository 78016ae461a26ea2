"""Runnable studies: a script per question, a folder per document whose figures are reproduced."""
