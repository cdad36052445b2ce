"""Speed, as ratios within one run: against the BLAS product of the same shape, or a peer."""
