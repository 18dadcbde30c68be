"""What may break a rule of the structure, and why."""

TABLE = "a table of refused inputs, one row a case, and no logic"

# Files that name options of the command in literals, and why.
OPTIONS = {"study/calibrate.cpp": "measurement files record the command that measured"}

# "file function": why it has more lines than functions.MOST_LINES.
LONG_FUNCTIONS = {
    "tests/model/topology_errors_test.cpp names": TABLE,
    "tests/model/topology_errors_test.cpp structures": TABLE,
    "tests/model/topology_tiled_test.cpp tiled": TABLE,
    "tests/model/topology_values_test.cpp values": TABLE,
}
