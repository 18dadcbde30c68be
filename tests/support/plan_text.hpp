#pragma once

#include <sstream>
#include <string>

#include "plan/json.hpp"

namespace tilerail {

/// The text of a plan file.
inline std::string to_json(const Plan& plan) {
  std::string text;
  write_json(plan, [&](std::string_view piece) { text += piece; });
  return text;
}

inline Plan plan_from_json(const std::string& text, const std::string& file) {
  std::istringstream stream{text};
  return plan_from_json(stream, file);
}

}  // namespace tilerail
