#include "cli/options/point_options.hpp"

#include <fmt/format.h>

#include "cli/options/options.hpp"
#include "model/base/error.hpp"
#include "study/sweep/sweep_file.hpp"

namespace tilerail::cli {

OptionGroup PointOptions::add_to(CLI::App& app, const std::string& heading) {
  const CLI::Option* const file_option = app.add_option("FILE", file, "A sweep (.toml), instead of the next options");
  add_options(app, job, false);
  OptionGroup group{app, heading};
  group.add("--vary", "KEY=VALUES", vary, "What takes several values; keys joined by & take the same");
  for (const CLI::Option* option : app.get_options())
    if (option != file_option && option->get_name() != "--help") instead_of_file.push_back(option);
  return group;
}

study::Sweep PointOptions::sweep() const {
  if (!file.empty()) {
    for (const CLI::Option* option : instead_of_file)
      if (option->count() > 0)
        throw fault_of(option->get_name(), fmt::format("is given together with the sweep {}", file),
                       "it in that file alone");
    return study::load_sweep(file);
  }
  study::Sweep sweep;
  sweep.base = job;
  for (const std::string& text : vary) sweep.axes.push_back(study::parse_axis(text, "--vary"));
  return sweep;
}

}  // namespace tilerail::cli
