"""Themes as data: one TOML file each, see ``tui.theme`` for what a file holds."""

from __future__ import annotations
