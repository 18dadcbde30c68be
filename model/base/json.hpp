#pragma once

#include <nlohmann/json.hpp>

namespace tilerail {

using Json = nlohmann::ordered_json;

}  // namespace tilerail
