"""Output to the terminal: texts of others cannot control it, and passwords are hidden."""
