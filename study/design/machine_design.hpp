#pragma once

#include <optional>
#include <string>

#include "model/import/assumptions.hpp"
#include "study/design/kernel_tables.hpp"

namespace tilerail::study {

/// A machine in a few figures, as a user gives them; rates are of one direction, "450" or
/// "450 GB/s".
struct DesignText {
  std::optional<std::string> name = {};
  std::string gpus = {}, kernels = {};
  std::string sockets = "1", islands = "1", uplink_gpus = "1";
  std::string pcie = {};  // generation 3 to 7, or a rate of 16 lanes with its unit; the
                          // GPUs' generation if empty
  std::string nvlink = {}, bridge = {};
  std::string host_memory = {}, socket_link = {};  // what is assumed of these, if empty
  std::string gpu_memory = {};
  std::string command = {};  // for the file's first lines
};

/// A commented machine file: `sockets` with memory, GPUs in equal blocks behind PCIe,
/// `uplink_gpus` of them to a PCIe switch, and in `islands` of equal size joined by
/// NVLink switches, between which there are bridges. All figures have sources: those of
/// the kernels are kept, the others are assumed. Throws InputError.
std::string design_machine(const DesignText& text);

/// "450" or "450 GB/s", in the range of rates. Throws InputError of the subject.
Rate design_rate(const std::string& text, std::string_view subject);

struct Pcie {
  Rate rate{0};  // of 16 lanes in one direction
  int generation = assumptions::other_generation;
};

/// Of a generation, 3 to 7, what the standard gives times the share of it that is reached
/// (model/import/assumptions.hpp); of a rate with its unit that rate, and the first
/// generation that has it. Empty: the generation of such GPUs.
Pcie pcie_of(const std::string& text, const GpuKind& kind);

}  // namespace tilerail::study
