"""howdah workloads"""

from __future__ import annotations

import click

from howdah.model.quantity import format_amount


@click.command()
def workloads() -> None:
    """List the workloads, the resources that each stresses, and its named sizes."""
    from howdah.workload.registry import WORKLOADS

    for name, workload in sorted(WORKLOADS.items()):
        sizes = ", ".join(f"{label} {format_amount(size, workload.unit)}" for label, size in workload.sizes.items())
        click.echo(f"{name}  {workload.summary}" + (f"\n{' ' * len(name)}  sizes: {sizes}" if sizes else ""))
