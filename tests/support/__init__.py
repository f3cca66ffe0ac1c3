"""What tests have in common: oracles, short runs, browsers, the paper read aloud."""
