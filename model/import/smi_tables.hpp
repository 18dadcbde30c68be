#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// A table of `nvidia-smi topo`: the words of its header and of its rows, in capitals, with the lines of the file.
struct SmiTable {
  struct Row {
    size_t line;
    std::vector<std::string> words;
    std::vector<std::string> fields;  // between tabs, without blanks around them
  };
  size_t line = 0;  // of the header
  std::vector<int> devices;
  std::vector<size_t> gpu_columns;   // by device: its column
  std::vector<std::string> columns;  // GPUs and network cards
  std::vector<std::string> behind;   // "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"
  std::vector<Row> rows;             // of GPUs, in the order of `devices`
  bool of_peer_access = false;       // whether its cells are those of `topo -p2p`
};

/// X, PIX, PXB, PHB, NODE, SYS, SOC (SYS of old drivers) and NV1 to NV18.
bool is_relation(std::string_view cell);
/// OK, and the other states of `topo -p2p`.
bool is_peer_state(std::string_view cell);

/// All tables of a text, each once if it is repeated. Throws InputError "FILE:LINE: ..." for columns, rows and cells
/// that are unknown, missing or there twice.
std::vector<SmiTable> read_smi_tables(std::string_view text, const std::string& file);

}  // namespace tilerail
