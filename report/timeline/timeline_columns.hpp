#pragma once

#include <array>
#include <string_view>

namespace tilerail::timeline_csv {

/// The columns of a timeline file, for its writer and its reader.
constexpr std::string_view schema = "1";
constexpr std::array<std::string_view, 11> metadata_keys = {
    "schema", "version", "plan_hash", "machine", "policy", "problem",
    "tile",   "backend", "devices",   "hosts",   "ops"};
constexpr std::array<std::string_view, 3> optional_keys = {"energy_j", "counted_energy_j",
                                                           "interval_s"};
constexpr std::array<std::string_view, 13> columns = {
    "op",    "kind",  "queue", "device",  "src",     "dst",  "bytes",
    "flops", "route", "label", "ready_s", "start_s", "end_s"};
enum CsvColumn {
  op,
  kind,
  queue,
  device,
  src,
  dst,
  bytes,
  flops,
  route,
  label,
  ready,
  start,
  end
};
constexpr std::string_view list_separator = ";";

}  // namespace tilerail::timeline_csv
