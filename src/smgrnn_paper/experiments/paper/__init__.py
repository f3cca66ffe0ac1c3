"""The paper's questions, one file each."""
