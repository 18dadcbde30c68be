"""Shared by the experiments."""
