#pragma once

#include <cstdint>
#include <span>
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
enum class Ways { fixed, search };

/// As many parts of k as there are GPUs.
constexpr int one_part_a_gpu = 1 << 20;

/// A value that the user asked for, be it that of the preset or another.
struct PolicyOverride {
  std::string key, value;
  std::string plain;  // the value of the preset
};

/// The options of a user. "key=value" overrides any field (fields.hpp).
/// `decide` turns a policy into the Decisions for one problem on one machine
/// (decisions.hpp).
struct Policy {
  std::string preset;                              // that the overrides began with
  std::vector<PolicyOverride> overridden = {};     // in the order in which that happened
  DeviceChoice device_choice = DeviceChoice::all;  // of those given
  const Metric* select =
      nullptr;             // by which devices are selected; null: as device_choice says
  double select_ms = 100;  // what judging plans may cost, at stated costs of an operation
  Ways ways = Ways::fixed;  // search: values of searched fields are tried, too
  int64_t judge_ops =
      0;  // of plans that the search may simulate; 0: the estimate alone decides
  GridChoice grid = GridChoice::square;
  int k_split =
      1;  // parts of k, each for its own part of the GPUs; their sums are added up
  Shares shares = Shares::equal;  // of C, that devices compute
  bool relays = false;  // plans with routes over other GPUs, too, if some are faster
  TileChoice tile_choice = TileChoice::thesis;
  Choices choices = {};
};

/// The preset tilerail; sched/emulation/presets.hpp has the presets of libraries and
/// papers. Throws InputError for another name.
Policy preset(std::string_view name);

}  // namespace tilerail
