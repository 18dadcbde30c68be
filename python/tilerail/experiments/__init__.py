"""Experiments of papers, and measurements on GPUs: ``python -m tilerail.experiments list`` (docs/experiments.md)."""
