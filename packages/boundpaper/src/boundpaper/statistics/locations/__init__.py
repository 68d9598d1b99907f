"""Tests of location: paired and unpaired, by Student, by ranks and by permutation."""
