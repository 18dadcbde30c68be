#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tilerail {

/// What there is instead of a name that is unknown: "there are 'a', 'b'" of few names, of many "the nearest are ..." by
/// the number of letters to change; "there is none" without any.
std::string known_names(std::string_view unknown, std::span<const std::string> names);

/// The words for an unknown key: "unknown key 'bandwith', perhaps 'bandwidth'; expected one of ...".
std::string unknown_key(std::string_view key, std::span<const std::string> known);

}  // namespace tilerail
