"""A package, so that its cluster ends with its last test and takes no memory from the tests of other folders."""
