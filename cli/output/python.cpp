#include "cli/output/python.hpp"

#include "cli/output/process.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* has_matplotlib =
    "import importlib.util, sys; sys.exit(not importlib.util.find_spec('matplotlib'))";

}  // namespace

std::optional<std::string> python_with_matplotlib() {
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (run_process({candidate, "-c", has_matplotlib}, {}).exit_code == 0) return candidate;
  }
  return std::nullopt;
}

}  // namespace tilerail::cli
