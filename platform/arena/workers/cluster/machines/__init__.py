"""The machines of a cluster: their admission, and messages about them."""
