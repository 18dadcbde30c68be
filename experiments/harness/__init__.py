"""What the experiments share: their command line, simulations, runs on hardware, tables, and files."""

from .hardware import GIVEN_GPUS, Case, HardwareParser, Results, finish, gpu_arguments, over_bound_of, results_of
from .program import Failure, Parser, command_text, positive, run_experiment, sizes
from .ranks import kendall_tau, quantile, regret
from .results import aligned, plotting, save_figure, save_text, write_csv
from .simulations import BOUND_COLUMNS, Simulation, Tilerail, over_bound
from .tables import Row, read_table

__all__ = ["GIVEN_GPUS", "Case", "Failure", "HardwareParser", "Parser", "Results", "Row", "Simulation",
           "Tilerail", "aligned", "command_text", "finish", "gpu_arguments", "kendall_tau", "plotting", "positive",
           "quantile", "read_table", "regret", "results_of", "run_experiment", "save_figure", "sizes",
           "write_csv"]
