"""`smgrnn bench`: the compiled engine, the torch engine and a plain PyTorch loop, side by side."""
