#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/energy.hpp"
#include "sched/policy/choices.hpp"

namespace tilerail {

enum class GridChoice { square, automatic, emulated };
enum class TileChoice { thesis, search, emulated };
enum class DeviceChoice { all, first, search };
enum class Shares { equal, by_speed, by_pdp, by_edp };
/// How much a search plans and simulates. docs/model.md#effort
enum class Effort { fast, fixed, normal, high };

inline constexpr std::array<std::string_view, 4> effort_names{"fast", "fixed", "normal",
                                                              "high"};

/// Limit of the operations that a search plans and simulates for a set of GPUs: a count
/// instead of a time, so that all processes find the same plan.
constexpr int64_t operations_of(Effort effort) {
  return std::array<int64_t, 4>{0, 200'000, 200'000, 1'000'000}[size_t(effort)];
}

/// Whether the search also tries other values of fields.
constexpr bool varies_fields(Effort effort) { return effort >= Effort::normal; }

/// As many parts of k as GPUs.
constexpr int one_part_a_gpu = 1 << 20;

/// A value set by the user, even if equal to the preset's.
struct PolicyOverride {
  std::string key, value;
  std::string plain;  // the preset's value
};

/// The options of a user. "key=value" overrides any field (fields.hpp). `decide` turns a
/// policy into Decisions for one problem on one machine (decisions.hpp).
struct Policy {
  std::string preset;                              // base of the overrides
  std::vector<PolicyOverride> overridden = {};     // in order of application
  DeviceChoice device_choice = DeviceChoice::all;  // of the given devices
  const Metric* select = nullptr;  // selects devices by a metric; null: see device_choice
  double select_ms = 100;  // budget for evaluating plans, at fixed costs per operation
  Effort effort = Effort::fast;
  GridChoice grid = GridChoice::square;
  int k_split = 1;  // parts of k, each for its own part of the GPUs; their sums are added
  Shares shares = Shares::equal;  // of C, for the devices
  TileChoice tile_choice = TileChoice::thesis;
  double whole_memory = 1;  // fraction of a memory that plans may regard as all of it
  Choices choices = {};
};

/// Whether the search tries several tiles.
inline bool any_tile(const Policy& policy) {
  return policy.choices.tile == 0 && policy.tile_choice == TileChoice::search;
}

/// The preset tilerail; sched/emulation/presets.hpp has the presets of libraries and
/// papers. Throws InputError for any other name.
Policy preset(std::string_view name);

}  // namespace tilerail
