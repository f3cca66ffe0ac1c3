"""The commands of the reproduction, which `smgrnn` finds through an entry point."""
