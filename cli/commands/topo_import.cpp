#include <fmt/format.h>

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
#include "study/design/kernel_tables.hpp"
#include "study/design/machine_design.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Examples:
  nvidia-smi topo -m > topo.txt; tilerail topo import --nvidia-smi topo.txt --kernels h200 -o node.toml
  NCCL_TOPO_DUMP_FILE=nccl.xml ./any-nccl-program; tilerail topo import --nccl nccl.xml --kernels h200 -o node.toml
  nvbandwidth -j > rates.json; tilerail topo import --nvbandwidth rates.json --kernels h200 -o node.toml)";

struct ImportOptions {
  std::string nvidia_smi, nccl, nvbandwidth, kernels, out = "-";
  std::optional<std::string> name;
  std::string pcie, nvlink, c2c, host_memory, sockets;  // what is assumed of these, if empty
};

/// nvbandwidth tells all rates that its machine has.
void check_use(const ImportOptions& options) {
  if (options.nvbandwidth.empty()) return;
  for (const auto& [option, value] :
       {std::pair{"--pcie", &options.pcie}, std::pair{"--nvlink", &options.nvlink}, std::pair{"--c2c", &options.c2c},
        std::pair{"--host-memory", &options.host_memory}, std::pair{"--sockets", &options.sockets}})
    if (!value->empty())
      throw InputError{
          fmt::format("{}: '{}' changes nothing beside --nvbandwidth, whose file tells all rates; expected "
                      "no such option",
                      option, *value)};
}

Topology::Description imported(const ImportOptions& options) {
  const GpuKind kind = study::find_gpu_kind(options.kernels, "--kernels");
  ImportRates rates;
  if (!options.pcie.empty()) rates.pcie = study::pcie_rate(options.pcie, "--pcie");
  if (!options.nvlink.empty()) rates.nvlink = study::design_rate(options.nvlink, "--nvlink");
  if (!options.c2c.empty()) rates.c2c = study::design_rate(options.c2c, "--c2c");
  if (!options.host_memory.empty()) rates.host_memory = study::design_rate(options.host_memory, "--host-memory");
  if (!options.sockets.empty()) rates.sockets = study::design_rate(options.sockets, "--sockets");
  const std::string& file = !options.nvidia_smi.empty() ? options.nvidia_smi
                            : !options.nccl.empty()     ? options.nccl
                                                        : options.nvbandwidth;
  const std::string text = read_file(file);
  if (!options.nvidia_smi.empty()) return import_nvidia_smi(text, file, kind, rates);
  if (!options.nccl.empty()) return import_nccl_xml(text, file, kind, rates);
  return import_nvbandwidth(text, file, kind);
}

Topology machine_of(const ImportOptions& options) {
  Topology::Description description = imported(options);
  if (options.name) description.name = *options.name;
  if (!is_name(description.name))
    throw InputError{fmt::format("--name: {} is no name; expected {}", in_quotes(description.name), expected_name)};
  return Topology{description};  // throws where it is none
}

int run_import(const ImportOptions& options) {
  std::vector<const char*> given;
  for (const auto& [option, file] : {std::pair{"--nvidia-smi", &options.nvidia_smi}, std::pair{"--nccl", &options.nccl},
                                     std::pair{"--nvbandwidth", &options.nvbandwidth}})
    if (!file->empty()) given.push_back(option);
  if (given.empty())
    throw InputError{"topo import: the file is missing; expected one of --nvidia-smi, --nccl and --nvbandwidth"};
  if (given.size() > 1)
    throw InputError{fmt::format("{}: is given beside {}; expected one of --nvidia-smi, --nccl and --nvbandwidth",
                                 given[1], given[0])};
  if (options.kernels.empty())
    throw InputError{"--kernels: the kind of GPU is missing; expected such as h200, or a machine whose GPUs it has"};
  check_use(options);
  write_machine(options.out, [&] { return to_toml(machine_of(options).description()); });
  return exit_ok;
}

}  // namespace

Command add_topo_import(CLI::App& topo) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* app = topo.add_subcommand("import", "Write the file of a machine that another tool describes");
  app->footer(footer);
  OptionGroup from{*app, "FROM (one of them)"};
  from.add("--nvidia-smi", "FILE", options->nvidia_smi, "What 'nvidia-smi topo -m' prints");
  from.add("--nccl", "FILE", options->nccl, "NCCL's topology file, of NCCL_TOPO_DUMP_FILE");
  from.add("--nvbandwidth", "FILE", options->nvbandwidth, "What 'nvbandwidth -j' prints");
  OptionGroup with{*app, "MACHINE (what files do not tell; a rate without a unit is in GB/s, of one direction)"};
  with.add("--kernels", "NAME", options->kernels, "What the GPUs are, as for 'topo new'");
  with.add("--pcie", "GEN|RATE", options->pcie, "PCIe generation, 3 to 7, or rate, where the file has none [5]");
  with.add(
      "--nvlink", "RATE", options->nvlink,
      fmt::format("Of one NVLink [{}, or by the GPU's sm, which only --nccl tells]", to_text(assumptions::nvlink)));
  with.add("--c2c", "RATE", options->c2c,
           fmt::format("Of the NVLink-C2C between a processor and its GPU [{}]", to_text(assumptions::c2c)));
  add_host_rates(with, options->host_memory, options->sockets);
  with.add("--name", "NAME", options->name, "Name of the machine [the tool's]");
  add_machine_output(*app, options->out);
  return {app, [options] { return run_import(*options); }};
}

}  // namespace tilerail::cli
