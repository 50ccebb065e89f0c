"""Machines, each driven through one channel. Only this layer starts processes and reads a machine's files."""

from howdah.host.protocol import Completed, Host, Process, Stream

__all__ = ["Completed", "Host", "Process", "Stream"]
