"""The baselines that the growing network is compared with: MLP, NEAT and NDP."""
