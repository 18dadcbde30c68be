#include "study/sweep/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/nearest.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail::study {
namespace {

using Setter = std::function<void(JobText&, const std::string&)>;

/// One of M, N, K; the others are those of gemm, or empty.
void set_size(JobText& job, std::size_t index, const std::string& value) {
  const std::string given = job.problem.gemm.value_or(",,");
  std::vector<std::string> sizes;
  for (const std::string_view size : split(given, ',')) sizes.emplace_back(size);
  if (sizes.size() == 1) sizes.assign(3, sizes.front());
  if (sizes.size() != 3) return;  // the error of gemm is told by whoever reads it
  sizes[index] = value;
  job.problem.gemm = fmt::format("{},{},{}", sizes[0], sizes[1], sizes[2]);
}

const std::map<std::string, Setter, std::less<>>& options() {
  static const std::map<std::string, Setter, std::less<>> table{
      {"gemm", [](JobText& j, const std::string& t) { j.problem.gemm = t; }},
      {"gemv", [](JobText& j, const std::string& t) { j.problem.gemv = t; }},
      {"dot", [](JobText& j, const std::string& t) { j.problem.dot = t; }},
      {"axpy", [](JobText& j, const std::string& t) { j.problem.axpy = t; }},
      {"m", [](JobText& j, const std::string& t) { set_size(j, 0, t); }},
      {"n", [](JobText& j, const std::string& t) { set_size(j, 1, t); }},
      {"k", [](JobText& j, const std::string& t) { set_size(j, 2, t); }},
      {"dtype", [](JobText& j, const std::string& t) { j.problem.dtype = t; }},
      {"transa", [](JobText& j, const std::string& t) { j.problem.trans_a = t; }},
      {"transb", [](JobText& j, const std::string& t) { j.problem.trans_b = t; }},
      {"alpha", [](JobText& j, const std::string& t) { j.problem.alpha = t; }},
      {"beta", [](JobText& j, const std::string& t) { j.problem.beta = t; }},
      {"place", [](JobText& j, const std::string& t) { j.problem.place = t; }},
      {"lda", [](JobText& j, const std::string& t) { j.problem.leading[0] = t; }},
      {"ldb", [](JobText& j, const std::string& t) { j.problem.leading[1] = t; }},
      {"ldc", [](JobText& j, const std::string& t) { j.problem.leading[2] = t; }},
      {"topology", [](JobText& j, const std::string& t) { j.machine.topology = t; }},
      {"devices", [](JobText& j, const std::string& t) { j.machine.devices = t; }},
      {"policy", [](JobText& j, const std::string& t) { j.policy.name = t; }},
      {"tile", [](JobText& j, const std::string& t) { j.policy.tile = t; }}};
  return table;
}

const std::vector<std::string>& policy_fields() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> found;
    for (const PolicyField& field : fields_of(Policy{})) found.push_back(field.key);
    return found;
  }();
  return keys;
}

bool is_policy_field(const std::string& key) {
  return std::ranges::find(policy_fields(), key) != policy_fields().end();
}

void set_field(JobText& job, const std::string& key, const std::string& value) {
  std::erase_if(job.policy.overrides, [&](const std::string& given) { return given.starts_with(key + "="); });
  job.policy.overrides.push_back(fmt::format("{}={}", key, value));
}

void set_setting(JobText& job, const std::string& key, const std::string& value) {
  std::erase_if(job.machine.settings, [&](const std::string& given) { return split_setting(given).first == key; });
  job.machine.settings.push_back(fmt::format("{}={}", key, value));
}

}  // namespace

bool is_key(const std::string& key) { return options().contains(key) || is_setting_key(key) || is_policy_field(key); }

bool is_text_key(const std::string& key) {
  constexpr std::string_view texts[] = {"topology", "policy", "place", "dtype", "transa", "transb", "select", "name"};
  return std::ranges::find(texts, key) != std::end(texts);
}

void set_key(JobText& job, const std::string& key, const std::string& value) {
  if (const auto option = options().find(key); option != options().end()) return option->second(job, value);
  if (begins_as_setting(key)) return set_setting(job, key, value);
  if (is_policy_field(key)) return set_field(job, key, value);
  std::vector<std::string> names{"gpus", "name"};
  for (const auto& [name, _] : options()) names.push_back(name);
  names.insert(names.end(), policy_fields().begin(), policy_fields().end());
  throw InputError{fmt::format("{} is no key; {}, or settings of the machine: {}", in_quotes(key),
                               known_names(key, names), setting_keys)};
}

}  // namespace tilerail::study
