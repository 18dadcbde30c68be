#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilerail {

/// GPUs by their numbers, and the pairs (lower number first) that cannot access each other's memory.
struct PeerAccess {
  std::vector<int> devices;
  std::set<std::pair<int, int>> denied;
};

/// The relations between GPUs, and of GPUs to network cards, as nvidia-smi shortens them, in capitals, and the columns
/// after them: where the CPUs of a GPU are. Rows and columns of GPUs are in the order of the header.
struct SmiMatrix {
  std::vector<int> devices;
  std::vector<std::vector<std::string>> cells, cards;     // [row][column]
  std::vector<std::optional<std::string>> cpus, domains;  // by row; absent where the file has none or N/A
  std::vector<std::optional<int>> own_domains;            // by row: the NUMA domain that is the GPU's memory
  std::vector<size_t> lines;                              // by row
  std::optional<PeerAccess> access = {};                  // of `topo -p2p` in the same text
};

/// Of the output of `nvidia-smi topo -m`, after which that of `nvidia-smi topo -p2p r` may follow. Throws InputError
/// "FILE:LINE: ..." for another text, for what it does not know, and where cells contradict each other.
SmiMatrix read_smi_matrix(std::string_view text, const std::string& file);

/// Of the output of `nvidia-smi topo -p2p r`; with several matrices, a pair needs access in all of them. Throws as
/// above.
PeerAccess read_peer_access(std::string_view text, const std::string& file);

}  // namespace tilerail
