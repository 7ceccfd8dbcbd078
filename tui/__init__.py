"""What the dashboard looks like: screens, widgets and the rows behind them. Reads through ``engine.monitor`` alone."""

from __future__ import annotations
