"""Shared by the experiments."""

from .data import (CLX_AI, clx_ai_dataset, CLX_AI_PLACES, cocopelia, count, factors, FOUR_GPUS, HETERO,
                   irregular_dataset, KAROLINA, karolina_tile, measured, names, numbers, rates, REGULAR_SIZES, SHAPES,
                   squares, table, TESTBED, THREE_GPUS, with_karolina_tiles, with_libraries)
from .drawing import colour, draw_errors, draw_rates, draw_violins, MEASURED_COLOUR
from .gallery import filled, markdown
from .studies import chosen_times, error_table, link, near_best, Outcome, quantile, Run
from .verdicts import Check, Compared, error_checks
