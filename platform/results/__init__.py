"""Results: `store` keeps them in SQL, `frames` shows them as pandas tables, `export` writes them to files."""
