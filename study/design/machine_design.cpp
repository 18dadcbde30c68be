#include "study/design/machine_design.hpp"

#include <fmt/format.h>

#include "model/base/error.hpp"
#include "model/base/number_text.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail::study {
Rate design_rate(const std::string& text, std::string_view subject) {
  const Rate rate = parse_rate(number_in<double>(text) ? text + " GB/s" : text, subject);
  if (!TopologyLimits::rate.holds(rate))
    throw out_of_range(subject, text, TopologyLimits::rate.text);
  return rate;
}

namespace {

int generation_of(const std::string& text) {
  namespace known = assumptions;
  if (text.size() == 1 && text.front() >= '0' + known::first_pcie &&
      text.front() <= '0' + known::last_pcie)
    return text.front() - '0';
  throw InputError{"pcie", text, "is not a generation of PCIe and has no unit",
                   fmt::format("{} to {}, or a rate such as '50 GB/s'", known::first_pcie,
                               known::last_pcie)};
}

}  // namespace

Pcie pcie_of(const std::string& text, const GpuKind& kind) {
  if (text.find("B/s") != std::string::npos) {
    const Rate rate = design_rate(text, "pcie");
    return {rate, pcie_generation(rate)};
  }
  const int generation =
      text.empty() ? gpu_model(kind.kernels.name).pcie : generation_of(text);
  return {assumptions::pcie_reached(generation), generation};
}

namespace {

size_t count_of(const std::string& text, std::string_view subject, size_t most) {
  return size_t(parse_integer(text, subject, 1, int64_t(most)));
}

/// `gpus` describes the GPUs: "GPUs" or "GPUs of a socket".
void require_divisor(size_t parts, size_t count, std::string_view gpus,
                     std::string_view subject) {
  if (count % parts == 0) return;
  throw InputError{subject, std::to_string(parts),
                   fmt::format("does not divide the {} {}", count, gpus),
                   fmt::format("a divisor of {}", count)};
}

void check_joins(const Design& d, const DesignText& text) {
  if (d.sockets == 1 && !text.socket_link.empty())
    throw fault_of("socket-link", "there is one socket, which needs no link",
                   "at least 2 sockets");
  if (d.islands > 1 && !d.nvlink)
    throw fault_of("islands", "islands are joined by NVLink", "its rate");
  if (d.bridge && d.islands == 1)
    throw fault_of("bridge", "there is one island, which needs no bridge",
                   "at least 2 islands");
}

Design design_of(const DesignText& text) {
  constexpr size_t most = 4096;
  Design d;
  if (text.gpus.empty()) throw missing("gpus", "the number of GPUs, such as 8");
  if (text.kernels.empty())
    throw missing("kernels", "the kind of GPU, such as h200, or a machine that has it");
  d.gpus = count_of(text.gpus, "gpus", most);
  d.sockets = count_of(text.sockets, "sockets", d.gpus);
  d.islands = count_of(text.islands, "islands", d.gpus);
  require_divisor(d.sockets, d.gpus, "GPUs", "sockets");
  require_divisor(d.islands, d.gpus, "GPUs", "islands");
  d.uplink_gpus = count_of(text.uplink_gpus, "per-uplink", d.gpus / d.sockets);
  require_divisor(d.uplink_gpus, d.gpus / d.sockets, "GPUs of a socket", "per-uplink");
  d.socket_link = text.socket_link.empty() ? assumptions::sockets
                                           : design_rate(text.socket_link, "socket-link");
  if (!text.nvlink.empty()) d.nvlink = design_rate(text.nvlink, "nvlink");
  if (!text.bridge.empty()) d.bridge = design_rate(text.bridge, "bridge");
  check_joins(d, text);
  d.kind = find_gpu_kind(text.kernels);
  const Pcie pcie = pcie_of(text.pcie, d.kind);
  d.pcie = pcie.rate;
  d.host_memory =
      text.host_memory.empty()
          ? assumptions::host_rates(pcie.generation)
          : assumptions::host_rates(design_rate(text.host_memory, "host-memory"));
  d.name = text.name.value_or(fmt::format("{}-gpus", d.gpus));
  if (!is_name(d.name)) throw InputError{"name", d.name, "is not a name", expected_name};
  d.command = text.command;
  return d;
}

}  // namespace

std::string design_machine(const DesignText& text) { return tables_of(design_of(text)); }

}  // namespace tilerail::study
