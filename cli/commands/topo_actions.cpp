#include "cli/commands/topo_actions.hpp"

#include <fmt/format.h>

#include "cli/output/output_set.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"

namespace tilerail::cli {

void add_machine_output(CLI::App& action, std::string& file) {
  OptionGroup{action, "OUTPUT"}.add("-o,--output", "FILE", file, "The machine's file, or - for stdout [-]");
}

void add_host_rates(const OptionGroup& group, std::string& host_memory, std::string& sockets) {
  group.add("--host-memory", "RATE", host_memory,
            fmt::format("Of each NUMA domain, reads and writes together [{}]", to_text(assumptions::host_memory)));
  group.add("--sockets", "RATE", sockets,
            fmt::format("Between each two NUMA domains; of more than {}, between each and one switch [{}]",
                        assumptions::most_in_pairs, to_text(assumptions::sockets)));
}

void write_machine(const std::string& file, const std::function<std::string()>& text) {
  OutputSet files;
  files.expect(file, "-o");
  files.add(file, text());
  files.finish("");
}

}  // namespace tilerail::cli
