"""``python -m howdah``: the same as the ``howdah`` command."""

from howdah.cli.main import entry

if __name__ == "__main__":
    entry()
