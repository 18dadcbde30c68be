#include "study/sweep/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail::study {
namespace {

/// Sets M, N or K. The other sizes stay as in gemm, else empty.
void set_size(JobText& job, size_t index, const std::string& value) {
  const std::string given = job.problem.gemm.value_or(",,");
  std::vector<std::string> sizes;
  for (const std::string_view size : split(given, ',')) sizes.emplace_back(size);
  if (sizes.size() == 1) sizes.assign(3, sizes.front());
  if (sizes.size() != 3) return;  // reported by the reader of gemm
  sizes[index] = value;
  job.problem.gemm = fmt::format("{},{},{}", sizes[0], sizes[1], sizes[2]);
}

using Text = std::variant<std::string*, std::optional<std::string>*>;

/// By option name.
std::map<std::string, Text, std::less<>> texts_of(JobText& job) {
  ProblemText& p = job.problem;
  return {{"gemm", &p.gemm},
          {"gemv", &p.gemv},
          {"dot", &p.dot},
          {"axpy", &p.axpy},
          {"dtype", &p.dtype},
          {"transa", &p.trans_a},
          {"transb", &p.trans_b},
          {"alpha", &p.alpha},
          {"beta", &p.beta},
          {"place", &p.place},
          {"lda", &p.leading[0]},
          {"ldb", &p.leading[1]},
          {"ldc", &p.leading[2]},
          {"topology", &job.machine.topology},
          {"devices", &job.machine.devices},
          {"policy", &job.policy.name},
          {"tile", &job.policy.tile},
          {"effort", &job.policy.effort}};
}

bool is_policy_field(const std::string& key) {
  static const std::vector<PolicyField> fields = fields_of(any_preset("tilerail"));
  return std::ranges::find(fields, key, &PolicyField::key) != fields.end();
}

/// Whether a value of `devices` is the policy's choice, such as "best(metric=edp)", and
/// does not give GPUs.
bool is_device_choice(const std::string& value) try {
  Policy policy;
  apply_override(policy, "devices=" + value.substr(0, value.find('(')));
  return value != "all";
} catch (const InputError&) {
  return false;
}

/// Adds or replaces "KEY=VALUE".
void assign(std::vector<std::string>& all, const std::string& key,
            const std::string& value) {
  std::erase_if(all, [&](const std::string& given) {
    return trimmed(given.substr(0, given.find('='))) == key;
  });
  all.push_back(fmt::format("{}={}", key, value));
}

}  // namespace

bool is_key(const std::string& key) {
  JobText none;
  return std::ranges::find(size_keys, key) != size_keys.end() ||
         texts_of(none).contains(key) || is_setting_key(key) || is_policy_field(key);
}

void set_key(JobText& job, const std::string& key, const std::string& value) {
  if (const auto size = std::ranges::find(size_keys, key); size != size_keys.end())
    return set_size(job, size_t(size - size_keys.begin()), value);
  if (key == "devices") {
    constexpr std::string_view among = " of ";  // between a choice and its processors
    const size_t end = value.find(among);
    const std::string choice = value.substr(0, end);
    if (is_device_choice(choice)) {
      if (end != value.npos) job.machine.devices = value.substr(end + among.size());
      return assign(job.policy.overrides, key, choice);
    }
  }
  const auto texts = texts_of(job);
  if (const auto known = texts.find(key); known != texts.end())
    return std::visit([&](auto* text) { *text = value; }, known->second);
  if (begins_as_setting(key)) return assign(job.machine.settings, key, value);
  if (is_policy_field(key)) return assign(job.policy.overrides, key, value);
  throw InputError{
      "", key, "is not a key",
      fmt::format("an option such as gemm, m, place or tile, a field of policies, or {}",
                  setting_keys)};
}

}  // namespace tilerail::study
