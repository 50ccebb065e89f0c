"""The blocks of documents, with the words, drawings and colours that they share."""
