#pragma once

#include <string>

#include "study/chain/chain_study.hpp"

namespace tilerail::cli {

std::string to_text(const study::ChainStudy& result, const study::ChainQuestion& question);
/// docs/formats.md#chain-of-products
std::string to_json(const study::ChainStudy& result, const study::ChainQuestion& question);

}  // namespace tilerail::cli
