#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilerail {

/// The relations between GPUs, and of GPUs to network cards, as nvidia-smi shortens them,
/// in capitals, and the columns after them: where the CPUs of a GPU are. Rows and columns
/// of GPUs are in the order of the header.
struct SmiMatrix {
  std::vector<int> devices;
  std::vector<std::vector<std::string>> cells, cards;  // [row][column]
  std::vector<std::optional<std::string>> cpus,
      domains;  // by row; absent where the file has none or N/A
  std::vector<std::optional<int>>
      own_domains;            // by row: the NUMA domain that is the GPU's memory
  std::vector<size_t> lines;  // by row
  std::set<std::pair<int, int>>
      denied;  // devices, lower first, without access by `topo -p2p`
};

/// Of the output of `nvidia-smi topo -m`, after which that of `nvidia-smi topo -p2p r`
/// may follow; with several of these, a pair needs access in all of them. Throws
/// InputError "FILE:LINE: ..." for another text, for what it does not know, and where
/// cells contradict each other.
SmiMatrix read_smi_matrix(std::string_view text, const std::string& file);

}  // namespace tilerail
