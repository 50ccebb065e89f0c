"""Blocks that documents are made of, with the words, drawings and colours that they share."""
