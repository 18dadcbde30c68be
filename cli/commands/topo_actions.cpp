#include "cli/commands/topo_actions.hpp"

#include <fmt/format.h>

#include "cli/output/output_set.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"

namespace tilerail::cli {

void add_machine_output(CLI::App& action, std::string& file) {
  OptionGroup{action, "OUTPUT"}.add("-o,--output", "FILE", file,
                                    "The machine's file, or - for stdout [-]");
}

void add_host_rates(const OptionGroup& group, std::string& host_memory,
                    std::string& socket_link) {
  group.add("--host-memory", "RATE", host_memory,
            fmt::format("Reads of one host memory by all GPUs together; writes get "
                        "{:.2f} of this rate, both directions together {:.2f} [by the "
                        "PCIe generation; {} with generation 5]",
                        assumptions::of_socket.written / assumptions::of_socket.read,
                        assumptions::of_socket.both / assumptions::of_socket.read,
                        to_text(assumptions::host_rates(5).read)));
  group.add("--socket-link", "RATE", socket_link,
            fmt::format("Rate between two sockets [{}]", to_text(assumptions::sockets)));
}

void write_machine(const std::string& file, const std::function<std::string()>& text) {
  OutputSet files;
  files.expect(file, "-o");
  files.add(file, text());
  files.finish("");
}

}  // namespace tilerail::cli
