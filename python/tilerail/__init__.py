"""Timelines of TileRail: read them, tabulate them, draw them."""

from .figures import compare_gantt, gantt
from .tables import summary_table
from .timeline import Queue, Timeline, TimelineError, read_timeline

__all__ = ["Queue", "Timeline", "TimelineError", "compare_gantt", "gantt", "read_timeline", "summary_table"]
