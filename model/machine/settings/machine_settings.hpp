#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"

namespace tilerail {

/// What keys may be, for help and errors.
inline constexpr const char* setting_keys =
    "link:FROM->TO.bandwidth (.latency, .per_flow; link:FROM->TO=none), "
    "group:NAME.capacity (.both_busy, .bounds, "
    ".forward_share), "
    "memory:NAME.capacity (.engines.h2d, .watts.idle, ...), kernels:NAME.rate "
    "(.f64.rate, .launch, "
    ".memory_bandwidth, ...), issue.per_op, gpus or name";

/// The machine with "KEY=VALUE" settings, applied one after another
/// (docs/formats.md#settings). It has another name, and what was set has a source of kind
/// "assumed", so that plans, tables and results tell it from the machine that it was made
/// of. Throws InputError "KEY=VALUE: ..." naming the value, what there is and what was
/// expected.
Topology with_settings(const Topology& machine, std::span<const std::string> settings);

/// Key and value without the blanks around them, split at the first '='. Throws
/// InputError when there is no '='.
std::pair<std::string, std::string> split_setting(std::string_view setting);

/// "base+KEY=VALUE+KEY=VALUE"; where that is longer than names may be, "base+4 settings
/// 0123456789abcdef", the same for the same settings.
std::string name_with(const std::string& base, std::span<const std::string> settings);

/// Whether a key is one of settings, as far as it tells without a machine.
bool is_setting_key(std::string_view key);
/// Whether a key begins like those of settings; what follows may be invalid.
bool begins_as_setting(std::string_view key);

}  // namespace tilerail
