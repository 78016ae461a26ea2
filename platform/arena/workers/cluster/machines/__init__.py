"""The machines of a cluster: which of them may play, and what is said about them."""
