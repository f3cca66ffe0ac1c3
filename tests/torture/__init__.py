"""Faults on purpose: killed, starved, flipped, crafted and fuzzed, for as long as one lets it.

`python -m torture` (or `make torture`) draws cases of every kind of fault until its time is out.
"""
