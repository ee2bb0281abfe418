"""Alerts, by what they watch."""
