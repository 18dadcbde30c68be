"""Shared by the experiments: command line, simulations, runs on hardware, tables, and files."""

from .datasets import CLX_AI_PLACES, KAROLINA, REGULAR_SIZES, SHAPES, Product, clx_ai_dataset, karolina_tile
from .hardware import GIVEN_GPUS, Case, HardwareParser, Results, finish, gpu_arguments, over_bound_of, results_of
from .libraries import (COLOURS, COMPARED_COLUMNS, LIBRARIES, MEASURED_COLUMNS, SIMULATE_EACH, Compared, Measured,
                        by_library, compared_cells, draw_errors, error_findings, error_table, near_best, order_finding,
                        policy_of, read_measured)
from .paper import Outcome, Paper, sample
from .peers import Peer, Problem, read_peers
from .program import Failure, Parser, check_free, command_text, names, page_file, positive, run_experiment, size, sizes
from .published import (FINDING_HEAD, NO_EFFECT, REFERENCE, Finding, Value, beside_published, read_published,
                        share_target, target, verdict)
from .ranks import kendall_tau, quantile, regret
from .results import aligned, plotting, save_figure, save_text, write_csv
from .simulations import (BOUND_COLUMNS, SIMULATED_COLUMNS, Journal, Simulation, Tilerail, over_bound,
                          simulated_cells)
from .tables import Row, read_table
from .transfers import read_trace, transfers

__all__ = ["BOUND_COLUMNS", "CLX_AI_PLACES", "COLOURS", "COMPARED_COLUMNS", "Case", "Compared", "FINDING_HEAD",
           "Failure", "Finding", "GIVEN_GPUS", "HardwareParser", "Journal", "KAROLINA", "LIBRARIES",
           "MEASURED_COLUMNS", "Measured", "NO_EFFECT", "Outcome", "Paper", "Parser", "Peer", "Problem", "Product",
           "REFERENCE", "REGULAR_SIZES", "SIMULATE_EACH", "Results", "Row", "SHAPES", "SIMULATED_COLUMNS",
           "Simulation", "Tilerail", "Value", "aligned", "beside_published", "by_library", "check_free",
           "clx_ai_dataset", "command_text", "compared_cells", "draw_errors", "error_findings", "error_table",
           "finish", "gpu_arguments", "karolina_tile", "kendall_tau", "names", "near_best", "order_finding",
           "over_bound", "over_bound_of", "page_file", "plotting", "policy_of", "positive", "quantile",
           "read_measured", "read_peers", "read_published", "read_table", "read_trace", "regret", "results_of",
           "run_experiment", "sample", "save_figure", "save_text", "share_target", "simulated_cells", "size", "sizes",
           "target", "transfers", "verdict", "write_csv"]
