#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// Names that differ in a number, in the syntax of cluster schedulers: "gpu[0-7]",
/// "gpu[0,2,4-6]", "rack[0-1]-gpu[0-3]". If the first number of a range begins with 0,
/// all its numbers have the same digits: "n[08-11]" is n08, n09, n10, n11. '*' matches
/// any characters and '?' one character.
class NamePattern {
 public:
  /// Throws InputError if a bracket contains anything but ranges of numbers or is not
  /// closed.
  explicit NamePattern(std::string_view text);

  bool matches(std::string_view name) const;

  /// All names in the order of the text; the last bracket varies fastest. '*' and '?' are
  /// kept, and a text without brackets is one name. Throws InputError if there are more
  /// than `most`.
  std::vector<std::string> expanded(size_t most) const;

 private:
  struct Range {
    int64_t first, last;
    size_t digits;  // minimum; padded with zeros
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
