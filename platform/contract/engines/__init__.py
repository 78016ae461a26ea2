"""The laws that engines keep, by protocol; `turnier check-engine` shows them."""
