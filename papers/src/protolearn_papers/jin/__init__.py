"""Jin, Liu and Hou (2008), prototype learning with margin-based conditional log-likelihood."""
