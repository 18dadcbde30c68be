#include "model/machine/matrix_blocks.hpp"

#include "model/base/indices.hpp"

namespace tilerail {

std::vector<int64_t> even_borders(int64_t extent, int parts) {
  constexpr int64_t unit = 64, least_units = 8;
  const int64_t align = extent >= parts * unit * least_units ? unit : 1;
  std::vector<int64_t> borders;
  for (int i = 0; i < parts; ++i)
    borders.push_back((extent * i / parts + align / 2) / align * align);
  borders.push_back(extent);
  return borders;
}

std::span<const MemoryId> homes_of(const MemoryId& place, const Topology& topology) {
  const Pages pages = topology.memory(place).pages;
  const bool is_one = pages == Pages::whole || pages == Pages::interleaved;
  return is_one ? std::span{&place, 1} : topology.parts_of(place);
}

std::vector<MatrixBlock> matrix_blocks(int64_t rows, int64_t cols, MemoryId place,
                                       const Topology& topology) {
  const Memory& memory = topology.memory(place);
  if (memory.pages != Pages::columns && memory.pages != Pages::rows)
    return {{place, 0, 0, rows, cols}};
  const bool by_rows = memory.pages == Pages::rows;
  const auto borders = even_borders(by_rows ? rows : cols, int(memory.over.size()));
  std::vector<MatrixBlock> blocks;
  for (const auto i : indices(memory.over)) {
    const int64_t begin = borders[i], size = borders[i + 1] - begin;
    if (size > 0)
      blocks.push_back(by_rows ? MatrixBlock{memory.over[i], begin, 0, size, cols}
                               : MatrixBlock{memory.over[i], 0, begin, rows, size});
  }
  return blocks;
}

}  // namespace tilerail
