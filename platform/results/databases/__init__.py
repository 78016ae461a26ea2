"""What opens a database: its URL, and for SQLite the file, where it lies and its log."""
