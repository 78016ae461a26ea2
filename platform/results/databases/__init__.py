"""Opening databases: URLs, and for SQLite the file, its disk and its log."""
