"""What the paper printed, what it claims, and the statistics that decide the claims."""
