"""What every part of Rankwright stands on: errors, whole files, kernels and threads."""
