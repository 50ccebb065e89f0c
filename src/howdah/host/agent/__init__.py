"""The part of Howdah that runs on a host: standard library only, Python 3.8 or newer, sent through the channel.

Siblings import each other relatively (`from . import files`), because on the host the package has another name.
"""
