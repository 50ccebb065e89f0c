"""The facts that tell whether a run measured what it claims: settings, clocks, processor time, plugins, disks."""
