"""Exceptions from rules of the structure, with reasons."""

TABLE = "a table of refused inputs, one row a case, and no logic"

# Files with names of command-line options in literals, and the reason.
OPTIONS = {}

# "file function": reason for more than functions.MOST_LINES lines.
LONG_FUNCTIONS = {
    "tests/model/topology_errors_test.cpp names": TABLE,
    "tests/model/topology_errors_test.cpp structures": TABLE,
    "tests/model/topology_tiled_test.cpp tiled": TABLE,
    "tests/model/topology_values_test.cpp values": TABLE,
}
