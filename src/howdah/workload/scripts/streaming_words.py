"""Hadoop Streaming's mapper of WordCount: every word of the input, with a one."""

import sys

for line in sys.stdin.buffer:
    sys.stdout.buffer.write(b"".join(word + b"\t1\n" for word in line.split()))
