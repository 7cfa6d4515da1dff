"""Floor 1: the only place that names an array library. One file for each, behind one protocol."""
