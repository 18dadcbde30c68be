#pragma once

#include <string>
#include <vector>

namespace tilerail::cli {

/// A text table: columns two spaces apart, as wide as their widest cell; the first column is left-aligned, the others
/// by `align`, one letter a column: l or r (r when it is shorter).
struct Table {
  std::vector<std::string> header;
  std::string align = "l";
  std::vector<std::vector<std::string>> rows = {};

  /// `indent` spaces before every line; each line ends in a newline.
  std::string text(int indent = 0) const;
};

}  // namespace tilerail::cli
