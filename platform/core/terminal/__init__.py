"""What is printed: texts of others cannot control the terminal, and passwords are not shown."""
