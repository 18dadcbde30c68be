#include "study/sweep/journal.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "model/base/digest.hpp"
#include "model/base/error.hpp"
#include "model/machine/topology_writer.hpp"

namespace tilerail::study {
namespace {

/// Another build is another file, with another time.
std::string this_program() {
  namespace fs = std::filesystem;
  const fs::path file = fs::read_symlink("/proc/self/exe");
  return fmt::format("{} {}", fs::file_size(file),
                     fs::last_write_time(file).time_since_epoch().count());
}

/// All inputs of a point except its program and its machine's figures.
Json inputs_of(const JobText& job) {
  const auto& [gemm, gemv, dot, axpy, dtype, alpha, trans_a, trans_b, beta, place,
               leading] = job.problem;
  const auto& [topology, devices, settings] = job.machine;
  const auto& [name, tile, effort, overrides] = job.policy;
  Json inputs = Json::array({dtype, alpha, topology, devices, settings, name, overrides});
  for (const auto* text : {&gemm, &gemv, &dot, &axpy, &trans_a, &trans_b, &beta, &place,
                           &leading[0], &leading[1], &leading[2], &tile, &effort})
    inputs.push_back(cell_of(*text));
  return inputs;
}

/// A line is the digest of its row and the row: [key, cells, error].
constexpr size_t digest_size = 16;

/// Names of files need not be UTF-8.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string line_of(const std::string& key, const SweepRow& row) {
  const std::string text =
      dumped(Json::array({key, cell_of(row.cells), cell_of(row.error)}));
  return digest_text(text) + " " + text;
}

std::pair<std::string, SweepRow> row_of(std::string_view line) {
  const bool is_row =
      line.size() > digest_size &&
      digest_text(line.substr(digest_size + 1)) == line.substr(0, digest_size);
  if (!is_row)
    throw InputError{"", std::nullopt, "is not a row of an interrupted sweep",
                     "the unchanged file, or its removal"};
  const Json parts = Json::parse(line.substr(digest_size + 1));
  SweepRow row;
  if (!parts[1].is_null()) row.cells = parts[1];
  if (!parts[2].is_null()) row.error = parts[2].get<std::string>();
  return {parts[0].get<std::string>(), row};
}

}  // namespace

SweepJournal::SweepJournal(const Sweep& sweep, const Machines& machines,
                           const std::string& path)
    : sweep_{sweep},
      program_{this_program()},
      log_{path, "rows of an interrupted sweep of TileRail"} {
  for (const auto& [text, machine] : machines)
    machines_.emplace(text, machine_hash(machine));
  size_t number = 1;
  for (const std::string& line : log_.lines()) try {
      ++number;
      rows_.insert(row_of(line));
    } catch (const InputError& error) {
      throw error.at(path, number);
    }
  if (!rows_.empty()) spdlog::debug("{}: {} rows of an earlier run", path, rows_.size());
}

std::string SweepJournal::key_of(size_t point) const {
  const JobText job = sweep_.job(point);
  Json inputs = inputs_of(job);
  inputs.push_back(machines_.at(job.machine.topology));
  inputs.push_back(program_);
  return digest_text(dumped(inputs));
}

std::optional<SweepRow> SweepJournal::find(size_t point) const {
  if (rows_.empty()) return std::nullopt;
  const auto known = rows_.find(key_of(point));
  if (known == rows_.end()) return std::nullopt;
  SweepRow row = known->second;
  row.point = point;
  return row;
}

void SweepJournal::add(const SweepRow& row) {
  const std::string line = line_of(key_of(row.point), row);
  const std::lock_guard lock{mutex_};
  log_.append(line);
}

}  // namespace tilerail::study
