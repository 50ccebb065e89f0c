"""howdah workloads"""

from __future__ import annotations

import click

from howdah.model.quantity import format_amount


@click.command()
def workloads() -> None:
    """List the workloads, the resources that each stresses, and its named sizes.

    \b
    Example:
      howdah workloads
    """
    from howdah.cli.reporting import width
    from howdah.workload.registry import WORKLOADS

    rows = []
    for name, workload in sorted(WORKLOADS.items()):
        sizes = ", ".join(f"{label} {format_amount(size, workload.unit)}" for label, size in workload.sizes.items())
        rows.append((name, workload.summary + (f". Sizes: {sizes}." if sizes else ".")))
    formatter = click.HelpFormatter(width=width())
    formatter.write_dl(rows)
    click.echo(formatter.getvalue(), nl=False)
