#include "cli/program.hpp"

int main(int argc, char** argv) { return tilerail::cli::run_program(argc, argv); }
