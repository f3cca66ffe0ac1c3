"""Calibration: which reading of the paper's rules comes closest to the paper's own sizes.

The text leaves open how its rules are to be read.  All readings are screened on two cheap
conditions, the best of them compared on more, and the best of those on LunarLander too.
"""
