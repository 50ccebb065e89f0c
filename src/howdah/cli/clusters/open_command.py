"""howdah open"""

from __future__ import annotations

import threading
from contextlib import suppress

import click

from howdah.cli.options import name_option, open_in_browser


@click.command()
@name_option
@click.option("--no-browser", is_flag=True, help="Only print the addresses.")
def open(name: str, no_browser: bool) -> None:  # noqa: A001 (the command's name)
    """Serve the web pages of a cluster on this machine until Ctrl-C, and open the ResourceManager's in a browser.

    Requests are signed for you, so the pages of a secured cluster open without a ticket. Only people who have the
    printed address can see them.

    \b
    Examples:
      howdah open
      howdah open --name mine --no-browser
    """
    from howdah.cli.reporting import width
    from howdah.cluster.deployment.realm import access_of
    from howdah.cluster.live.pages import serve_pages
    from howdah.cluster.state import cluster_directory
    from howdah.cluster.supervision.client import find_cluster

    manifest = find_cluster(name)
    with serve_pages(manifest.plan, access_of(manifest.plan, cluster_directory(name))) as pages:
        longest = max(len(page.role) for page in pages)
        lines = [f"{page.role:{longest}}  {page.url}" for page in pages]
        if max(map(len, lines)) > width():  # An address that is broken cannot be copied.
            lines = [f"{page.role}\n  {page.url}" for page in pages]
        click.echo("\n".join(lines))
        click.echo("\nCtrl-C ends.")
        if not no_browser:
            open_in_browser(next(page.url for page in pages if page.role == "resourcemanager"))
        with suppress(KeyboardInterrupt):  # That is how one is done here, and no failure.
            threading.Event().wait()
