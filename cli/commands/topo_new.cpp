#include <fmt/format.h>

#include <memory>

#include "cli/commands/topo_actions.hpp"
#include "cli/options/options.hpp"
#include "model/import/assumptions.hpp"
#include "model/machine/topology_toml.hpp"
#include "study/design/machine_design.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* topo_new_footer = R"(Examples:
  tilerail topo new --gpus 16 --islands 2 --sockets 4 --pcie 5 --nvlink 450 --bridge 100 --kernels h200 -o new.toml
  tilerail topo new --gpus 8 --pcie 4 --per-uplink 2 --kernels karolina-hgx-a100 -o pairs.toml)";

struct NewOptions {
  study::DesignText design;
  std::string out = "-";
  const CLI::App* app = nullptr;
};

int run_new(const NewOptions& options) {
  study::DesignText design = options.design;
  design.command = command_of("tilerail topo new", *options.app);
  write_machine(options.out, [&] {
    std::string text = study::design_machine(design);
    read_topology(text, "the new machine");  // throws if it is too large
    return text;
  });
  return exit_ok;
}

}  // namespace

Command add_topo_new(CLI::App& topo) {
  return make_command<NewOptions>(
      topo, "new", "Write the file of a machine that does not exist", topo_new_footer,
      run_new, [](CLI::App& app, NewOptions& options) {
        options.app = &app;
        study::DesignText& design = options.design;
        const OptionGroup group{app,
                                "MACHINE (rates without a unit: GB/s in one direction)"};
        group.add("--gpus", "N", design.gpus, "GPUs");
        group.add(
            "--kernels", "NAME", design.kernels,
            "Kind of GPU: kernels of a shipped machine such as h200, MACHINE.toml, or "
            "MACHINE:KERNELS; also sets memory, copy engines, watts and issue costs");
        group.add(
            "--sockets", "N", design.sockets,
            fmt::format("Sockets with host memory, each with an equal part of the GPUs; "
                        "a link joins each pair, or, above {}, each and one switch [1]",
                        assumptions::most_in_pairs));
        group.add("--islands", "N", design.islands, "NVLink islands of equal size [1]");
        group.add("--pcie", "GEN|RATE", design.pcie,
                  "PCIe generation, 3 to 7, of 16 lanes, or a rate such as '50 GB/s' [as "
                  "the GPUs]");
        group.add("--per-uplink", "N", design.uplink_gpus,
                  "GPUs that share the uplink of a PCIe switch [1: no switch]");
        group.add("--nvlink", "RATE", design.nvlink,
                  "Rate of a GPU to the NVLink switch of its island [no NVLink]");
        group.add("--bridge", "RATE", design.bridge,
                  fmt::format("Rate between two islands; above {}, of each to one switch "
                              "[none: over PCIe]",
                              assumptions::most_in_pairs));
        add_host_rates(group, design.host_memory, design.socket_link);
        group.add("--name", "NAME", design.name, "Name of the machine [N-gpus]");
        add_machine_output(app, options.out);
      });
}

}  // namespace tilerail::cli
