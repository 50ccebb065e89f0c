"""The evidence that a run measured what it claims: settings, clocks, processor time, plugins, disks."""
