"""Hadoop Streaming's reducer of WordCount: the ones of each word, which come sorted, added up."""

import sys
from itertools import groupby

for word, lines in groupby(sys.stdin.buffer, key=lambda line: line.partition(b"\t")[0]):
    total = sum(int(line.partition(b"\t")[2]) for line in lines)
    sys.stdout.buffer.write(b"%s\t%d\n" % (word, total))
