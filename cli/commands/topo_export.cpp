#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/topo_actions.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output_set.hpp"
#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/import/nccl_export.hpp"
#include "study/job.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Example:
  tilerail topo export karolina-hgx-a100 --nccl karolina-nccl.xml)";

struct ExportOptions {
  study::MachineText machine;
  std::string nccl;
  std::optional<std::string> bus_ids;
};

std::vector<std::string> addresses_of(const ExportOptions& options, const Topology& machine) try {
  if (!options.bus_ids) return {};
  std::vector<std::string> texts;
  for (const std::string_view text : split(*options.bus_ids, ',')) texts.emplace_back(text);
  return pci_addresses(texts, machine.gpus().size());
} catch (const InputError& error) {
  throw error.about("bus-ids");
}

int run_export(const ExportOptions& options) {
  if (options.nccl.empty()) throw missing("topo export", "a file, such as --nccl machine.xml");
  OutputSet files;
  files.expect(options.nccl, "--nccl");
  const Topology machine = options.machine.load();
  const NcclFile nccl = to_nccl_xml(machine, addresses_of(options, machine));
  files.add(options.nccl, nccl.text);
  files.finish("");
  for (const std::string& note : nccl.notes) spdlog::info("--nccl: {}", note);
  return exit_ok;
}

}  // namespace

Command add_topo_export(CLI::App& topo) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* app = topo.add_subcommand("export", "Write a machine as a file of another program");
  app->footer(footer);
  add_machine(*app, options->machine);
  const OptionGroup output{*app, "OUTPUT"};
  output.add("--nccl", "FILE", options->nccl,
             "A topology file of NCCL or RCCL (.xml), for NCCL_TOPO_FILE, or - for stdout; what it cannot say is "
             "printed on stderr");
  output.add("--bus-ids", "LIST", options->bus_ids,
             "Addresses of the GPUs for --nccl, by number, such as 0000:06:00.0,0000:07:00.0, as 'nvidia-smi "
             "--query-gpu=pci.bus_id --format=csv,noheader' prints them [made up]");
  return {app, [options] { return run_export(*options); }};
}

}  // namespace tilerail::cli
