"""Analysing a position with several agents: values, certainty, lines and chances, refined as you watch."""

from .analysis import AgentAnalysis, Analysis, LinePly, analyse, best_move
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
