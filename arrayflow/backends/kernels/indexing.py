"""Reading and writing by index, and the adjoint of reading: a sum into zeros."""
