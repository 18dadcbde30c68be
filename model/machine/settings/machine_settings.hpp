#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/machine/topology.hpp"

namespace tilerail {

/// Allowed keys, for help and errors.
inline constexpr const char* setting_keys =
    "link:FROM->TO.bandwidth (.latency, .per_flow; link:FROM->TO=none), "
    "group:NAME.capacity (.both_busy, .bounds, "
    ".forward_share), "
    "memory:NAME.capacity (.engines.h2d, .watts.idle, ...), kernels:NAME.rate "
    "(.f64.rate, .launch, "
    ".memory_bandwidth, ...), issue.per_op, gpus or name";

/// The machine after "KEY=VALUE" settings, applied one after another
/// (docs/formats.md#settings). The new name, and a source of kind "assumed" for changed
/// items, distinguish it from the original machine in plans, tables and results. Throws
/// InputError "KEY=VALUE: ..." with the value, the existing names and the expectation.
Topology with_settings(const Topology& machine, std::span<const std::string> settings);

/// Key and value without surrounding blanks, split at the first '='. Throws InputError
/// without '='.
std::pair<std::string, std::string> split_setting(std::string_view setting);

/// "base+KEY=VALUE+KEY=VALUE"; if this is too long for a name, "base+4 settings
/// 0123456789abcdef" with a hash of the settings.
std::string name_with(const std::string& base, std::span<const std::string> settings);

/// Whether a key is a valid setting, as far as can be checked without a machine.
bool is_setting_key(std::string_view key);
/// Whether a key begins like a setting; the rest may be invalid.
bool begins_as_setting(std::string_view key);

}  // namespace tilerail
