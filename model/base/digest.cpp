#include "model/base/digest.hpp"

#include <fmt/format.h>

namespace tilerail {

uint64_t digest(std::string_view text) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

std::string digest_text(std::string_view text) { return fmt::format("{:016x}", digest(text)); }

}  // namespace tilerail
