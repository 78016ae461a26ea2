"""Figures of what games are like."""
