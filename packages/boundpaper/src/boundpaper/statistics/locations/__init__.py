"""Test means and medians of paired and unpaired samples, by Student's t, ranks and permutation."""
