#pragma once

#include <string>
#include <string_view>

namespace tilerail {

/// What a field of a policy does and when it matters, in a sentence; empty where there is no such field.
std::string meaning_of(std::string_view key);

}  // namespace tilerail
