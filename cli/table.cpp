#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilerail::cli {

std::string Table::text(int indent) const {
  std::vector<std::size_t> widths(header.size(), 0);
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  };
  widen(header);
  for (const auto& row : rows) widen(row);

  std::string out;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool left = i < align.size() && align[i] == 'l';
      line += left ? fmt::format("{:<{}}", cells[i], widths[i]) : fmt::format("{:>{}}", cells[i], widths[i]);
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  append(header);
  for (const auto& row : rows) append(row);
  return out;
}

}  // namespace tilerail::cli
