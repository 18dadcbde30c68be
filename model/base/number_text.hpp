#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace tilerail {

/// The number that a text consists of; nullopt if the text contains anything else.
/// `format`: see std::from_chars.
template <class Number, class... Format>
std::optional<Number> number_in(std::string_view text, Format... format) {
  Number value{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, format...);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{value}
                                                                  : std::nullopt;
}

}  // namespace tilerail
