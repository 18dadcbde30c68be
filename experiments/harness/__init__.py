"""What the experiments share: their command line, simulations, tables, and files."""

from .program import Failure, Parser, command_text, run_experiment, sizes
from .results import aligned, plotting, save_figure, write_csv
from .simulations import Simulation, Tilerail

__all__ = ["Failure", "Parser", "Simulation", "Tilerail", "aligned", "command_text", "plotting", "run_experiment",
           "save_figure", "sizes", "write_csv"]
