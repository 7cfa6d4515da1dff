"""Floor 4: the array API standard over Variables, one file for each chapter, each rule beside its name."""
