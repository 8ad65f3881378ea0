"""Hubbub publishes statistics about people so that each person stays lost in the crowd, and says how lost.

This is the public surface. Importing it loads no database, no chart library and no command line.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
