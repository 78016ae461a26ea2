"""Analysing a position with several agents: values, certainty and lines that grow as you watch."""

from turnier.arena.analysis.analysis import AgentAnalysis, Analysis, analyse
from turnier.arena.analysis.line import LinePly

__all__ = ["AgentAnalysis", "Analysis", "LinePly", "analyse"]
