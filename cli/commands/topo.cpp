#include <fmt/format.h>

#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/output/machine_text.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/standard_output.hpp"
#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "study/planning/find_machine.hpp"
#include "study/predict/link_map_csv.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Examples:
  tilerail topo list
  tilerail topo show clx-ai
  tilerail topo show clx-ai --link-map clx-ai.csv
  tilerail topo validate my-machine.toml)";

struct TopoOptions {
  std::string machine, link_map;
  CLI::App *list = nullptr, *show = nullptr, *validate = nullptr;
};

int list_machines() {
  for (const std::string& name : study::machine_names()) print(name + "\n");
  return exit_ok;
}

int show(const std::string& machine, const std::string& link_map) {
  OutputSet files;
  files.expect(link_map, "--link-map");
  const Topology topology = load_topology(machine);
  if (!link_map.empty()) files.add(link_map, study::link_map_csv(topology));
  files.finish(describe(topology));
  return exit_ok;
}

int run_topo(const TopoOptions& options) {
  if (options.list->parsed()) return list_machines();
  if (!options.show->parsed() && !options.validate->parsed()) {
    throw InputError{"topo: an action is missing: list, show or validate (see 'tilerail topo --help')"};
  }
  const std::string file = study::find_machine(options.machine, "topo").string();
  if (options.show->parsed()) return show(file, options.link_map);
  const Topology topology = load_topology(file);
  print(fmt::format("{}: valid: machine '{}' with {} memories, {} GPUs, {} link directions, {} capacity groups\n", file,
                    topology.name(), topology.memories().size(), topology.gpus().size(), topology.links().size(),
                    topology.groups().size()));
  return exit_ok;
}

}  // namespace

Command add_topo(CLI::App& root) {
  auto options = std::make_shared<TopoOptions>();
  CLI::App* app = root.add_subcommand("topo", "Show or check a machine description");
  app->footer(footer);
  options->list = app->add_subcommand("list", "Names of the machines that need no path");
  options->show = app->add_subcommand("show", "Nodes, links, groups, kernels and the pair bandwidth matrices");
  options->validate = app->add_subcommand("validate", "Check the file; every error names line and column");
  for (CLI::App* action : {options->show, options->validate}) {
    action->add_option("machine", options->machine, "A .toml file or a name ('tilerail topo list')")->required();
  }
  OptionGroup{*options->show, "OUTPUT"}.add("--link-map", "FILE", options->link_map,
                                            "Pairs of memories and their slowdowns as CSV into a file, or - for "
                                            "stdout");
  return {app, [options] { return run_topo(*options); }};
}

}  // namespace tilerail::cli
