#pragma once

#include <string>
#include <string_view>

#include "study/sweep/sweep.hpp"

namespace tilerail::study {

/// Reads a sweep from a TOML file: [base] with keys and values that all points have, [[vary]] with `key` or `keys` and
/// `values` (docs/formats.md#sweep). Its machines are looked for beside the program, and files from the current folder.
/// Throws InputError "file:line:column: ...".
Sweep load_sweep(const std::string& file);
/// The same of a text; `file` only names the place.
Sweep read_sweep(std::string_view toml, const std::string& file);

}  // namespace tilerail::study
