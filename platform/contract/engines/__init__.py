"""The laws of engines, by protocol; `turnier check` shows them."""
