#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/commands/topo_actions.hpp"
#include "cli/options/option_group.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/machine/topology_check.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/design/machine_design.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* topo_import_footer = R"(Examples:
  nvidia-smi topo -m > topo.txt; tilerail topo import --nvidia-smi topo.txt --kernels h200 -o node.toml
  NCCL_TOPO_DUMP_FILE=nccl.xml ./any-nccl-program; tilerail topo import --nccl nccl.xml --kernels h200 -o node.toml
  nvbandwidth -j > rates.json; tilerail topo import --nvbandwidth rates.json --kernels h200 -o node.toml
  p2pBandwidthLatencyTest > p2p.txt; tilerail topo import --p2p p2p.txt --kernels a100 -o node.toml)";

struct ImportOptions {
  std::string nvidia_smi, nccl, nvbandwidth, p2p, out = "-";
  std::string kernels;
  std::optional<std::string> name;
  std::string pcie, nvlink, c2c, host_memory,
      socket_link;  // default: assumptions
};

constexpr const char* tools = "--nvidia-smi, --nccl, --nvbandwidth and --p2p";

ImportRates rates_of(const ImportOptions& options, const GpuKind& kind) {
  ImportRates rates;
  const study::Pcie pcie = study::pcie_of(options.pcie, kind);
  rates.pcie = pcie.rate;
  rates.generation = pcie.generation;
  const auto given = [](const std::string& text,
                        const char* option) -> std::optional<Rate> {
    return text.empty() ? std::nullopt : std::optional{study::design_rate(text, option)};
  };
  rates.nvlink = given(options.nvlink, "--nvlink");
  rates.c2c = given(options.c2c, "--c2c").value_or(rates.c2c);
  rates.host_memory = given(options.host_memory, "--host-memory");
  rates.sockets = given(options.socket_link, "--socket-link").value_or(rates.sockets);
  return rates;
}

/// The option and the file of the only given tool.
std::pair<std::string, std::string> tool_of(const ImportOptions& options) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [option, file] : {std::pair{"--nvidia-smi", &options.nvidia_smi},
                                     std::pair{"--nccl", &options.nccl},
                                     std::pair{"--nvbandwidth", &options.nvbandwidth},
                                     std::pair{"--p2p", &options.p2p}})
    if (!file->empty()) given.emplace_back(option, *file);
  if (given.empty()) throw missing("topo import", fmt::format("one of {}", tools));
  if (given.size() > 1)
    throw InputError{given[1].first, given[1].second,
                     "is given together with " + given[0].first,
                     fmt::format("one of {}", tools)};
  return given.front();
}

Topology::Description imported(const ImportOptions& options,
                               std::vector<std::string>& notes) {
  const auto [tool, file] = tool_of(options);
  if (options.kernels.empty())
    throw missing("kernels", "the kind of GPU, such as h200, or a machine that has it");
  const GpuKind kind = study::find_gpu_kind(options.kernels);
  const ImportRates rates = rates_of(options, kind);
  const std::string text = read_file(file);
  if (tool == "--nvidia-smi") return import_nvidia_smi(text, file, kind, rates);
  if (tool == "--nccl") return import_nccl_xml(text, file, kind, rates);
  if (tool == "--p2p") return import_p2p_test(text, file, kind, rates);
  return import_nvbandwidth(text, file, kind, &notes);
}

int run_import(const ImportOptions& options) {
  std::vector<std::string> notes;
  write_machine(options.out, [&] {
    Topology::Description machine = imported(options, notes);
    machine.name = options.name.value_or(machine.name);
    if (!is_name(machine.name))
      throw InputError{"name", machine.name, "is not a name", expected_name};
    return to_toml(Topology{machine}.description());
  });
  for (const std::string& note : notes) spdlog::warn("{}", note);
  return exit_ok;
}

}  // namespace

Command add_topo_import(CLI::App& topo) {
  return make_command<ImportOptions>(
      topo, "import", "Write the file of a machine that another tool describes",
      topo_import_footer, run_import, [](CLI::App& app, ImportOptions& options) {
        OptionGroup from{app, "FROM (one of them)"};
        from.add("--nvidia-smi", "FILE", options.nvidia_smi,
                 "Output of 'nvidia-smi topo -m'; output of 'nvidia-smi topo -p2p r' can "
                 "follow in the same file");
        from.add("--nccl", "FILE", options.nccl,
                 "NCCL's topology file, from NCCL_TOPO_DUMP_FILE");
        from.add("--nvbandwidth", "FILE", options.nvbandwidth,
                 "Output of 'nvbandwidth -j' ('--format json' in newer versions)");
        from.add("--p2p", "FILE", options.p2p,
                 "Output of NVIDIA's p2pBandwidthLatencyTest");
        OptionGroup with{app,
                         "MACHINE (figures that files lack; rates without a unit: GB/s "
                         "in one direction)"};
        with.add("--kernels", "NAME", options.kernels, "Kind of GPU, as for 'topo new'");
        with.add(
            "--pcie", "GEN|RATE", options.pcie,
            "PCIe generation, 3 to 7, or rate, if the file has none [by the GPU: A100 4, "
            "H100 5]");
        with.add("--nvlink", "RATE", options.nvlink,
                 fmt::format("Rate of one NVLink [{}, or with --nccl by the GPU's sm]",
                             to_text(assumptions::nvlink)));
        with.add("--c2c", "RATE", options.c2c,
                 fmt::format("Rate of NVLink-C2C, processor to GPU [{}]",
                             to_text(assumptions::c2c)));
        add_host_rates(with, options.host_memory, options.socket_link);
        with.add("--name", "NAME", options.name, "Name of the machine [the tool's]");
        add_machine_output(app, options.out);
      });
}

}  // namespace tilerail::cli
