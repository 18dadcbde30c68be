#include "model/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr size_t longest_value = 400;  // paths are shorter

/// Escapes NUL as "\x00", because what() ends at a NUL.
std::string composed(std::string_view subject, std::optional<std::string_view> value,
                     std::string_view problem, std::string_view expected,
                     std::string_view place) {
  std::string text;
  for (const std::string_view part : {place, subject})
    if (!part.empty()) text += fmt::format("{}: ", part);
  if (value) text += in_quotes(*value, longest_value) + " ";
  text += problem;
  if (!expected.empty())
    text += fmt::format("{}{}", problem.empty() ? "is not " : "; expected ", expected);
  for (size_t at; (at = text.find('\0')) != std::string::npos;)
    text.replace(at, 1, "\\x00");
  return text;
}

}  // namespace

InputError::InputError(std::string_view of, std::optional<std::string_view> given,
                       std::string_view fault, std::string_view wanted,
                       std::string_view where)
    : std::runtime_error{composed(of, given, fault, wanted, where)},
      subject{of},
      value{given},
      problem{fault},
      expected{wanted},
      place{where} {}

std::string InputError::joined(std::string_view outer, const std::string& inner) {
  return fmt::format("{}{}{}", outer, inner.empty() ? "" : ": ", inner);
}

InputError unknown_name(std::string_view subject, std::string_view name,
                        std::string_view kind, std::span<const std::string> names) {
  return {subject, name, fmt::format("is not {}", kind),
          fmt::format("one of: {}", fmt::join(names, ", "))};
}

}  // namespace tilerail
