"""Games with people, stored while they are played, and people's ratings."""
