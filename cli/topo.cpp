#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/locate.hpp"
#include "cli/topo_show.hpp"
#include "model/error.hpp"
#include "model/topology.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Examples:
  tilerail topo list
  tilerail topo show clx-ai
  tilerail topo validate my-machine.toml)";

struct TopoOptions {
  std::string machine;
  CLI::App *list = nullptr, *show = nullptr, *validate = nullptr;
};

int list_machines() {
  for (const std::string& name : topology_names()) std::puts(name.c_str());
  return exit_ok;
}

int run_topo(const TopoOptions& options) {
  if (options.list->parsed()) return list_machines();
  if (!options.show->parsed() && !options.validate->parsed()) {
    throw InputError{"topo: an action is missing: list, show or validate (see 'tilerail topo --help')"};
  }
  const std::string file = find_topology(options.machine, "topo").string();
  const Topology topology = load_topology(file);
  if (options.show->parsed()) {
    std::fputs(describe(topology).c_str(), stdout);
    return exit_ok;
  }
  fmt::print("{}: valid: machine '{}' with {} memories, {} GPUs, {} link directions, {} capacity groups\n", file,
             topology.name(), topology.memories().size(), topology.gpus().size(), topology.links().size(),
             topology.groups().size());
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
  return {app, [options] { return run_topo(*options); }};
}

}  // namespace tilerail::cli
