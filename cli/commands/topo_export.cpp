#include <memory>
#include <string>

#include "cli/commands/topo_actions.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/output_set.hpp"
#include "model/base/error.hpp"
#include "model/machine/simgrid_xml.hpp"
#include "study/job.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* topo_export_footer = R"(Example:
  tilerail topo export karolina-hgx-a100 --simgrid karolina.xml)";

struct ExportOptions {
  study::MachineText machine;
  std::string simgrid;
};

int run_export(const ExportOptions& options) {
  if (options.simgrid.empty())
    throw missing("topo export", "a file, such as --simgrid machine.xml");
  OutputSet files;
  files.expect(options.simgrid, "--simgrid");
  files.add(options.simgrid, to_simgrid_xml(options.machine.load()));
  files.finish("");
  return exit_ok;
}

}  // namespace

Command add_topo_export(CLI::App& topo) {
  return make_command<ExportOptions>(
      topo, "export", "Write a machine as a file of another program", topo_export_footer,
      run_export, [](CLI::App& app, ExportOptions& options) {
        add_machine(app, options.machine);
        const OptionGroup output{app, "OUTPUT"};
        output.add("--simgrid", "FILE", options.simgrid,
                   "A platform of SimGrid (.xml), or - for stdout");
      });
}

}  // namespace tilerail::cli
