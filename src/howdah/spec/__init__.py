"""Files that people write for Howdah: read strictly, every mistake with its line."""
