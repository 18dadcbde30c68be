#include "study/design/machine_design.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/machine/topology_toml.hpp"
#include "study/planning/find_machine.hpp"

namespace tilerail::study {
namespace {

/// Whether the text is a sequence of whole words of the table's name, which are separated
/// by '-': "h100" of "nvidia-h100-80gb-hbm3".
bool means(const std::string& text, const std::string& table) {
  return !text.empty() && ("-" + table + "-").find("-" + text + "-") != std::string::npos;
}

/// The kernel table with this name; an exact match has priority.
std::optional<size_t> named(const std::vector<KernelTimes>& kernels,
                            const std::string& text) {
  auto found = std::ranges::find(kernels, text, &KernelTimes::name);
  if (found == kernels.end())
    found = std::ranges::find_if(
        kernels, [&](const KernelTimes& each) { return means(text, each.name); });
  if (found == kernels.end()) return std::nullopt;
  return size_t(found - kernels.begin());
}

GpuKind kind_of(const Topology& machine, size_t kernels) {
  const Topology::Description& d = machine.description();
  GpuKind kind{machine.name(), d.kernels[kernels], {}, d.strided, d.issue, {}};
  kind.gpu.processor.emplace();
  for (const MemoryId gpu : machine.gpus())
    if (machine.processor(gpu).kernels == kernels) {
      kind.gpu = machine.memory(gpu);
      break;
    }
  std::set<std::string> keys{kind.kernels.source, kind.strided.source, kind.issue.source};
  for (const GemmCurve& curve : kind.kernels.gemm) keys.insert(curve.source);
  for (const Source& source : d.sources)
    if (keys.contains(source.key)) kind.sources.push_back(source);
  return kind;
}

/// The only kernel table of the machine, or `table` if given.
GpuKind of_machine(const std::string& file, const std::string& table) {
  const Topology machine = load_topology(file);
  const auto& kernels = machine.description().kernels;
  std::vector<std::string> names;
  for (const KernelTimes& each : kernels) names.push_back(each.name);
  for (const auto i : indices(kernels))
    if (table.empty() ? kernels.size() == 1 : kernels[i].name == table)
      return kind_of(machine, i);
  throw fault_of(
      "kernels",
      fmt::format("{} has the kernels {}", machine.name(), fmt::join(names, ", ")),
      "one of them, as MACHINE:KERNELS");
}

}  // namespace

GpuKind find_gpu_kind(const std::string& text) {
  if (const auto file = known_machine(text)) return of_machine(file->string(), "");
  if (const size_t colon = text.rfind(':'); colon != std::string::npos)
    if (const auto file = known_machine(text.substr(0, colon)))
      return of_machine(file->string(), text.substr(colon + 1));
  std::set<std::string> known;
  for (const std::string& name : machine_names()) {
    const Topology machine = load_topology(find_machine(name).string());
    const auto& kernels = machine.description().kernels;
    if (const auto table = named(kernels, text)) return kind_of(machine, *table);
    for (const KernelTimes& each : kernels) known.insert(each.name);
  }
  throw InputError{"kernels", text, "is not a kind of GPU",
                   or_one_of("a machine", {known.begin(), known.end()})};
}

}  // namespace tilerail::study
