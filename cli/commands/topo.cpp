#include <fmt/format.h>

#include <memory>

#include "cli/commands/command.hpp"
#include "cli/commands/topo_actions.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/machine_text.hpp"
#include "cli/output/output_set.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/job.hpp"
#include "study/planning/find_machine.hpp"
#include "study/predict/prediction.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* topo_footer = R"(Examples:
  tilerail topo list
  tilerail topo show clx-ai
  tilerail topo show clx-ai --link-map clx-ai.csv
  tilerail topo show clx-ai --flat > my-machine.toml
  tilerail topo new --gpus 16 --islands 2 --nvlink 450 --bridge 100 --kernels h200 -o my-machine.toml
  tilerail topo validate my-machine.toml)";

struct TopoOptions {
  study::MachineText machine;
  std::string link_map;
  bool flat = false;
  CLI::App *list = nullptr, *show = nullptr, *validate = nullptr;
  std::vector<Command> others;
};

int list_machines() {
  Lines lines;
  for (const std::string& name : study::machine_names()) {
    const std::string file = study::find_machine(name).string();
    try {
      lines.push_back({name, brief_text(load_topology(file))});
    } catch (const InputError& error) {
      lines.push_back({name, fmt::format("cannot be read: {}", error.what())});
    }
  }
  if (lines.empty()) throw missing("topo list", "machine files (.toml)");
  print(aligned(lines, "l"));
  return exit_ok;
}

int show(const TopoOptions& options) {
  OutputSet files;
  files.expect(options.link_map, "--link-map");
  const Topology topology = options.machine.load();
  if (!options.link_map.empty())
    files.add(options.link_map, study::link_map_csv(topology));
  files.finish(options.flat ? to_toml(topology.description()) : describe(topology));
  return exit_ok;
}

int validate(const study::MachineText& machine) {
  const std::string file = study::find_machine(machine.topology).string();
  const Topology topology = machine.changed(load_topology(file));
  print(fmt::format(
      "{}: valid: machine '{}' with {} memories, {} GPUs, {} link directions, {} "
      "capacity groups\n",
      file, topology.name(), topology.description().memories.size(),
      topology.gpus().size(), topology.links().size(), topology.groups().size()));
  return exit_ok;
}

int run_topo(const TopoOptions& options) {
  if (options.list->parsed()) return list_machines();
  if (options.show->parsed()) return show(options);
  if (options.validate->parsed()) return validate(options.machine);
  for (const Command& action : options.others)
    if (action.app->parsed()) return action.run();
  throw missing(
      "topo", "list, show, validate, new, import or export (see 'tilerail topo --help')");
}

}  // namespace

Command add_topo(CLI::App& root) {
  auto options = std::make_shared<TopoOptions>();
  CLI::App* app =
      root.add_subcommand("topo", "Show, check or make a machine description");
  app->footer(topo_footer);
  options->list = app->add_subcommand("list", "List the machines that need no path");
  options->show = app->add_subcommand(
      "show", "Nodes, links, groups, kernels and the pair bandwidth matrices");
  options->validate = app->add_subcommand(
      "validate", "Check the file: the first error with line and column");
  for (CLI::App* action : {options->show, options->validate})
    add_machine(*action, options->machine);
  const OptionGroup output{*options->show, "OUTPUT"};
  output.flag("--flat", options->flat,
              "The machine as a file without templates, ranges and includes");
  output.add("--link-map", "FILE", options->link_map,
             "Pairs of memories and their slowdowns as CSV into a file, or - for stdout");
  options->others = {add_topo_new(*app), add_topo_import(*app), add_topo_export(*app)};
  return {app, [options] { return run_topo(*options); }};
}

}  // namespace tilerail::cli
