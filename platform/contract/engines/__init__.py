"""The laws that engines keep, by protocol; `turnier check` shows them."""
