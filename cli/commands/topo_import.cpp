#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands/topo_actions.hpp"
#include "cli/options/option_group.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/design/import_machine.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* topo_import_footer = R"(Examples:
  nvidia-smi topo -m > topo.txt; tilerail topo import --nvidia-smi topo.txt --kernels h200 -o node.toml
  NCCL_TOPO_DUMP_FILE=nccl.xml ./any-nccl-program; tilerail topo import --nccl nccl.xml --kernels h200 -o node.toml
  nvbandwidth -j > rates.json; tilerail topo import --nvbandwidth rates.json --kernels h200 -o node.toml
  p2pBandwidthLatencyTest > p2p.txt; tilerail topo import --p2p p2p.txt --kernels a100 -o node.toml)";

struct ImportOptions {
  study::ImportText machine;
  std::string out = "-";
};

int run_import(const ImportOptions& options) {
  std::vector<std::string> notes;
  write_machine(options.out, [&] {
    study::ImportedMachine imported = study::import_machine(options.machine);
    notes = std::move(imported.notes);
    return to_toml(imported.machine.description());
  });
  for (const std::string& note : notes) spdlog::warn("{}", note);
  return exit_ok;
}

}  // namespace

Command add_topo_import(CLI::App& topo) {
  return make_command<ImportOptions>(
      topo, "import", "Write the file of a machine that another tool describes",
      topo_import_footer, run_import, [](CLI::App& app, ImportOptions& options) {
        study::ImportText& machine = options.machine;
        OptionGroup from{app, "FROM (one of them)"};
        from.add("--nvidia-smi", "FILE", machine.nvidia_smi,
                 "Output of 'nvidia-smi topo -m'; output of 'nvidia-smi topo -p2p r' can "
                 "follow in the same file");
        from.add("--nccl", "FILE", machine.nccl,
                 "NCCL's topology file, from NCCL_TOPO_DUMP_FILE");
        from.add("--nvbandwidth", "FILE", machine.nvbandwidth,
                 "Output of 'nvbandwidth -j' ('--format json' in newer versions)");
        from.add("--p2p", "FILE", machine.p2p,
                 "Output of NVIDIA's p2pBandwidthLatencyTest");
        OptionGroup with{app,
                         "MACHINE (figures that files lack; rates without a unit: GB/s "
                         "in one direction)"};
        with.add("--kernels", "NAME", machine.kernels, "Kind of GPU, as for 'topo new'");
        with.add(
            "--pcie", "GEN|RATE", machine.pcie,
            "PCIe generation, 3 to 7, or rate, if the file has none [by the GPU: A100 4, "
            "H100 5]");
        with.add("--nvlink", "RATE", machine.nvlink,
                 fmt::format("Rate of one NVLink [{}, or with --nccl by the GPU's sm]",
                             to_text(assumptions::nvlink)));
        with.add("--c2c", "RATE", machine.c2c,
                 fmt::format("Rate of NVLink-C2C, processor to GPU [{}]",
                             to_text(assumptions::c2c)));
        add_host_rates(with, machine.host_memory, machine.socket_link);
        with.add("--name", "NAME", machine.name, "Name of the machine [the tool's]");
        add_machine_output(app, options.out);
      });
}

}  // namespace tilerail::cli
