"""boundpaper: papers whose numbers are bound to artifacts and whose claims are checked.

This module stays light: a build with nothing to do imports neither pandas nor YAML.
"""

__version__ = "0.2.0"
