#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// Names that differ by a number, as schedulers of clusters write them: "gpu[0-7]",
/// "gpu[0,2,4-6]", "rack[0-1]-gpu[0-3]". A range whose first number begins with 0 gives
/// all its numbers that many digits: "n[08-11]" is n08, n09, n10, n11.
/// '*' stands for any characters and '?' for one.
class NamePattern {
 public:
  /// Throws InputError when a bracket holds no ranges of numbers or is not closed.
  explicit NamePattern(std::string_view text);

  bool matches(std::string_view name) const;

  /// All names in the order of the text, those of the last bracket change first; '*' and
  /// '?' stay, and a text without brackets is one name. Throws InputError when there are
  /// more than `most`.
  std::vector<std::string> expanded(size_t most) const;

 private:
  struct Range {
    int64_t first, last;
    size_t digits;  // at least; fewer are filled with zeros
    std::string number(int64_t value) const;
  };
  enum class Kind { text, any, one, numbers };
  struct Part {
    Kind kind;
    std::string text;
    std::vector<Range> ranges;
  };
  Part numbers(std::string_view list) const;
  static std::vector<size_t> ends_of(const Part& part, std::string_view name,
                                     size_t begin);

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace tilerail
