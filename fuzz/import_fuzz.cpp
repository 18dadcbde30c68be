#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "calibration/measurements.hpp"
#include "model/base/error.hpp"
#include "model/import/import.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"

namespace {

tilerail::GpuKind kind() {
  tilerail::GpuKind kind;
  kind.kernels.name = "k";
  kind.kernels.source = "s";
  kind.gpu.processor = tilerail::Processor{};
  kind.sources = {{"s", tilerail::Source::Kind::assumed, "made up"}};
  return kind;
}

/// Text that is not output of the tool must be refused with an InputError.
std::optional<tilerail::Topology> machine_of(
    const std::function<tilerail::Topology::Description()>& import) try {
  return tilerail::Topology{import()};
} catch (const tilerail::InputError&) {
  return std::nullopt;
}

/// Accepted text gives a machine that can be written and read again.
void check(const std::function<tilerail::Topology::Description()>& import) {
  if (const auto machine = machine_of(import))
    tilerail::read_topology(tilerail::to_toml(machine->description()), "again.toml");
}

/// Accepted measurements can be written and read again.
void check_measurements(std::string_view text) {
  std::optional<tilerail::Measurements> read;
  try {
    read = tilerail::measurements_from_json(text, "fuzz");
  } catch (const tilerail::InputError&) {
    return;
  }
  tilerail::measurements_from_json(tilerail::to_json(*read), "again.json");
}

}  // namespace

/// The first byte selects the tool.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto gpu = kind();
  if (data[0] == 's') check([&] { return import_nvidia_smi(text, "fuzz", gpu, {}); });
  if (data[0] == 'n') check([&] { return import_nccl_xml(text, "fuzz", gpu, {}); });
  if (data[0] == 'b') check([&] { return import_nvbandwidth(text, "fuzz", gpu); });
  if (data[0] == 'm') check_measurements(text);
  if (data[0] == 'p') check([&] { return import_p2p_test(text, "fuzz", gpu, {}); });
  return 0;
}
