#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

namespace tilerail {

/// Invalid input: a file, an argument, a matrix or a machine. what() is composed of the
/// given fields: "PLACE: SUBJECT: 'VALUE' PROBLEM; expected EXPECTED". The command line
/// exits with code 2.
struct InputError : std::runtime_error {
  /// Without a problem, the text is "SUBJECT: 'VALUE' is not EXPECTED".
  InputError(std::string_view of, std::optional<std::string_view> given,
             std::string_view fault, std::string_view wanted = {},
             std::string_view where = {});

  /// The same error, with `outer` before its place.
  InputError at(std::string_view outer) const {
    return {subject, value, problem, expected, joined(outer, place)};
  }
  InputError at(const std::string& file, size_t line) const {
    return at(file + ":" + std::to_string(line));
  }
  /// The same error with another subject: programs spell subjects as their arguments.
  InputError about(std::string_view other) const {
    return {other, value, problem, expected, place};
  }

  /// The same error, with `outer` before its subject.
  InputError within(std::string_view outer) const {
    return about(joined(outer, subject));
  }

  bool operator==(const InputError& other) const {
    return std::tie(subject, value, problem, expected, place) ==
           std::tie(other.subject, other.value, other.problem, other.expected,
                    other.place);
  }

  std::string subject;  // domain term, such as "tile"; "" if the value is clear
  std::optional<std::string> value;  // as given; none if nothing was given
  std::string problem, expected;
  std::string place;  // "file:line", an entry of a file, or ""

 private:
  /// "OUTER: INNER"
  static std::string joined(std::string_view outer, const std::string& inner);
};

/// An error without a value: "SUBJECT: PROBLEM; expected EXPECTED".
inline InputError fault_of(std::string_view subject, std::string_view problem,
                           std::string_view expected = {}) {
  return {subject, {}, problem, expected};
}
inline InputError missing(std::string_view subject, std::string_view expected) {
  return fault_of(subject, "is missing", expected);
}
inline InputError given_twice(std::string_view subject,
                              std::optional<std::string_view> value = {}) {
  return {subject, value, "is given twice", "it once"};
}
inline InputError out_of_range(std::string_view subject, std::string_view value,
                               std::string_view expected) {
  return {subject, value, "is out of range", expected};
}
/// "SUBJECT: 'NAME' is not KIND; expected one of: NAMES".
InputError unknown_name(std::string_view subject, std::string_view name,
                        std::string_view kind, std::span<const std::string> names);

/// Required hardware is missing. The command line exits with code 3.
struct HardwareError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Hardware failed during execution. The command line exits with code 3, too.
struct ExecutionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tilerail
