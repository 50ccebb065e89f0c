"""Files that people write for Howdah. They are read strictly, and every mistake is reported with its line."""
