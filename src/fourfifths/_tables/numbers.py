"""What is a number: one rule for every column of every table."""

from __future__ import annotations

NUMBER = r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$"
