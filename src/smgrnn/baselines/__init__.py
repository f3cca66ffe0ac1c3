"""What the growing network is compared with."""
