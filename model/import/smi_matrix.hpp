#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilerail {

/// The relations between GPUs, and between GPUs and network cards, as abbreviated by
/// nvidia-smi, in upper case, and the affinity columns after them. Rows and columns of
/// GPUs are in the order of the header.
struct SmiMatrix {
  std::vector<int> devices;
  std::vector<std::vector<std::string>> cells, cards;  // [row][column]
  std::vector<std::optional<std::string>> cpus,
      domains;  // by row; absent if the file has none or N/A
  std::vector<std::optional<int>>
      own_domains;            // by row: the NUMA domain of the GPU's own memory
  std::vector<size_t> lines;  // by row
  std::set<std::pair<int, int>>
      denied;  // device pairs, lower first, without access according to `topo -p2p`
};

/// Parses the output of `nvidia-smi topo -m`, optionally followed by outputs of
/// `nvidia-smi topo -p2p r`; a pair needs access in all of them. Throws InputError
/// "FILE:LINE: ..." for other text, unknown cells and contradictory cells.
SmiMatrix read_smi_matrix(std::string_view text, const std::string& file);

}  // namespace tilerail
