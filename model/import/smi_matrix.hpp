#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// The relations between GPUs, and of GPUs to network cards, as nvidia-smi shortens them, and what follows them in a
/// row: where its CPUs are.
struct SmiMatrix {
  std::vector<int> devices;
  std::vector<std::vector<std::string>> cells, cards;  // [row][column]
  std::vector<std::string> affinities;                 // by row
  std::vector<bool> coherent;                          // by row: whether the GPU's memory is a NUMA domain
};

/// Of the output of `nvidia-smi topo -m`. Throws InputError "FILE:LINE: ..." for another text, and where cells
/// contradict each other.
SmiMatrix read_smi_matrix(std::string_view text, const std::string& file);

}  // namespace tilerail
