#include "study/design/machine_design.hpp"

#include <fmt/format.h>

#include <cctype>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/machine/topology_check.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/design/design_tables.hpp"

namespace tilerail::study {
Rate design_rate(const std::string& text, const std::string& option) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  Rate rate;
  try {
    rate = parse_rate(plain ? text + " GB/s" : text);
  } catch (const InputError& error) {
    throw InputError{fmt::format("{}: {}", option, error.what())};
  }
  if (!TopologyLimits::rate.holds(rate))
    throw InputError{
        fmt::format("{}: {} is out of range; expected {}", option, in_quotes(text), TopologyLimits::rate.text)};
  return rate;
}

namespace {

int generation_of(const std::string& text, const std::string& option) {
  namespace known = assumptions;
  if (text.size() == 1 && text.front() >= '0' + known::first_pcie && text.front() <= '0' + known::last_pcie)
    return text.front() - '0';
  throw InputError{
      fmt::format("{}: {} is no generation of PCIe and has no unit; expected {} to {}, or a rate such as "
                  "'50 GB/s'",
                  option, in_quotes(text), known::first_pcie, known::last_pcie)};
}

}  // namespace

Pcie pcie_of(const std::string& text, const GpuKind& kind, const std::string& option) {
  if (text.find("B/s") != std::string::npos) {
    const Rate rate = design_rate(text, option);
    return {rate, pcie_generation(rate)};
  }
  const int generation = text.empty() ? pcie_generation(kind.kernels.name) : generation_of(text, option);
  return {assumptions::pcie_reached(generation), generation};
}

namespace {

std::size_t count_of(const std::string& text, const std::string& option, std::size_t most) {
  return static_cast<std::size_t>(parse_integer(text, option, 1, static_cast<std::int64_t>(most)));
}

void require_blocks(std::size_t gpus, std::size_t parts, const std::string& option) {
  if (gpus % parts != 0)
    throw InputError{
        fmt::format("{}: {} GPUs are not in {} equal parts; expected a divisor of {}", option, gpus, parts, gpus)};
}

Design design_of(const DesignText& text) {
  constexpr std::size_t most = 4096;
  Design d;
  if (text.gpus.empty()) throw InputError{"--gpus: the number of GPUs is missing; expected such as --gpus 8"};
  if (text.kernels.empty())
    throw InputError{"--kernels: the kind of GPU is missing; expected such as h200, or a machine whose GPUs it has"};
  d.gpus = count_of(text.gpus, "--gpus", most);
  d.sockets = count_of(text.sockets, "--sockets", d.gpus);
  d.islands = count_of(text.islands, "--islands", d.gpus);
  require_blocks(d.gpus, d.sockets, "--sockets");
  require_blocks(d.gpus, d.islands, "--islands");
  d.uplink_gpus = count_of(text.uplink_gpus, "--per-uplink", d.gpus / d.sockets);
  if (const std::size_t gpus = d.gpus / d.sockets; gpus % d.uplink_gpus != 0)
    throw InputError{fmt::format("--per-uplink: {} GPUs of a socket are not in parts of {}; expected a divisor of {}",
                                 gpus, d.uplink_gpus, gpus)};
  d.socket_link = text.socket_link.empty() ? assumptions::sockets : design_rate(text.socket_link, "--socket-link");
  if (!text.nvlink.empty()) d.nvlink = design_rate(text.nvlink, "--nvlink");
  if (!text.bridge.empty()) d.bridge = design_rate(text.bridge, "--bridge");
  if (d.sockets == 1 && !text.socket_link.empty())
    throw InputError{
        "--socket-link: there is one socket, which needs no link; expected --sockets of at least 2 next to it"};
  if (d.islands > 1 && !d.nvlink)
    throw InputError{"--islands: islands are joined by NVLink; expected --nvlink GB/s together with it"};
  if (d.bridge && d.islands == 1)
    throw InputError{
        "--bridge: there is one island, which needs no bridge; expected --islands of at least 2 together with it"};
  d.kind = find_gpu_kind(text.kernels, "--kernels");
  const Pcie pcie = pcie_of(text.pcie, d.kind, "--pcie");
  d.pcie = pcie.rate;
  d.host_memory = text.host_memory.empty() ? assumptions::host_rates(pcie.generation)
                                           : assumptions::host_rates(design_rate(text.host_memory, "--host-memory"));
  if (!text.gpu_memory.empty()) {
    try {
      d.kind.gpu.capacity = parse_bytes(text.gpu_memory);
    } catch (const InputError& error) {
      throw InputError{fmt::format("--gpu-memory: {}", error.what())};
    }
    if (!TopologyLimits::capacity.holds(*d.kind.gpu.capacity))
      throw InputError{fmt::format("--gpu-memory: {} is out of range; expected {}", in_quotes(text.gpu_memory),
                                   TopologyLimits::capacity.text)};
  }
  d.name = text.name.value_or(fmt::format("{}-gpus", d.gpus));
  if (!is_name(d.name))
    throw InputError{fmt::format("--name: {} is not a name; expected {}", in_quotes(d.name), expected_name)};
  d.command = text.command;
  return d;
}

}  // namespace

std::string design_machine(const DesignText& text) { return tables_of(design_of(text)); }

}  // namespace tilerail::study
