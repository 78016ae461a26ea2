"""Analysing a position with several agents: values, certainty, lines and chances, refined as you watch."""

from .analysis import AgentAnalysis, Analysis, analyse, best_move
from .line import LinePly
from .outlook import Goal, MoveOutlook, Outlook, PlayingOn

__all__ = [
    "AgentAnalysis",
    "Analysis",
    "Goal",
    "LinePly",
    "MoveOutlook",
    "Outlook",
    "PlayingOn",
    "analyse",
    "best_move",
]
