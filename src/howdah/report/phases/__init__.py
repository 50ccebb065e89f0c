"""The time, the tasks and the resources of the phases of a run."""
