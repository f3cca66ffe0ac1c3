"""How weights learn: the loss, the credit each edge gets for it, and the optimizer."""
