"""howdah completion"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from howdah.cli import main


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete the commands and options of howdah.

    \b
    Examples:
      howdah completion bash > ~/.local/share/bash-completion/completions/howdah
      howdah completion zsh > DIR/_howdah      (DIR is a directory of your fpath)
      howdah completion fish > ~/.config/fish/completions/howdah.fish
    """
    made_by = get_completion_class(shell)
    assert made_by is not None
    click.echo(made_by(main.howdah, {}, "howdah", main.COMPLETION).source())
