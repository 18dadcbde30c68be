#pragma once

#include <optional>
#include <string>

#include "model/import/assumptions.hpp"
#include "model/import/gpu_kind.hpp"

namespace tilerail::study {

/// Consistent figures of a machine. Rates are of one direction.
struct Design {
  std::string name, command;
  size_t gpus = 1, sockets = 1, islands = 1, uplink_gpus = 1;
  Rate pcie{0}, socket_link{0};
  assumptions::HostRates host_memory;
  std::optional<Rate> nvlink, bridge;
  GpuKind kind;
};

/// The text of the machine file.
std::string tables_of(const Design& design);

/// Finds a kind of GPU. `text` is a machine (file or name) whose GPUs are all of one
/// kind, MACHINE:KERNELS, or a kernel table or words of its name between '-' ("h100"),
/// looked up in the machines by name. Throws InputError with the existing tables.
GpuKind find_gpu_kind(const std::string& text);

/// A user's specification of a machine. Rates are of one direction, "450" or "450 GB/s".
struct DesignText {
  std::optional<std::string> name = {};
  std::string gpus = {}, kernels = {};
  std::string sockets = "1", islands = "1", uplink_gpus = "1";
  std::string pcie = {};  // generation 3 to 7, or a rate of 16 lanes with unit; default:
                          // the GPUs' generation
  std::string nvlink = {}, bridge = {};
  std::string host_memory = {}, socket_link = {};  // default: assumptions
  std::string command = {};                        // for the header of the file
};

/// A commented machine file: `sockets` with memory, GPUs in equal blocks behind PCIe,
/// `uplink_gpus` of them per PCIe switch, and `islands` of equal size joined by NVLink
/// switches, with bridges between islands. All figures have sources: kernels keep theirs,
/// all others are assumed. Throws InputError.
std::string design_machine(const DesignText& text);

/// "450" or "450 GB/s", in the range of rates. Throws InputError with this subject.
Rate design_rate(const std::string& text, std::string_view subject);

struct Pcie {
  Rate rate{0};  // of 16 lanes in one direction
  int generation = assumptions::other_generation;
};

/// The PCIe generation and rate. Generation 3 to 7: the standard's rate times the share
/// reached in practice (model/import/assumptions.hpp). Rate with a unit: this rate and
/// the first generation that has it. Empty: the generation of such GPUs.
Pcie pcie_of(const std::string& text, const GpuKind& kind);

}  // namespace tilerail::study
