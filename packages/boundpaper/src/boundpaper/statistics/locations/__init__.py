"""Test locations: paired and unpaired, by Student's t, by ranks and by permutation."""
