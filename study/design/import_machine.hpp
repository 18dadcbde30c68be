#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail::study {

/// A machine that the output of another tool describes: one of the four files, and
/// figures that it lacks. Rates are of one direction, "450" (GB/s) or "450 GB/s".
struct ImportText {
  std::string nvidia_smi, nccl, nvbandwidth, p2p;  // files
  std::string kernels;              // the kind of GPU, as find_gpu_kind() finds it
  std::optional<std::string> name;  // default: the tool's
  std::string pcie, nvlink, c2c, host_memory, socket_link;  // default: assumptions
};

struct ImportedMachine {
  Topology machine;
  std::vector<std::string> notes;  // data of the file that the machine lacks
};

/// Throws InputError, also if none or several of the files are given.
ImportedMachine import_machine(const ImportText& text);

}  // namespace tilerail::study
