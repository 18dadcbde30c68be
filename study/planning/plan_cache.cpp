#include "study/planning/plan_cache.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/file_lock.hpp"
#include "model/base/files.hpp"
#include "model/machine/layout_text.hpp"
#include "model/machine/topology_writer.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail::study {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& file) {
  std::error_code error;
  const bool there = fs::exists(file, error);
  if (there && !fs::is_regular_file(file, error))
    throw InputError{"", file, "is not a regular file", "the file of a plan cache"};
  return there;
}

}  // namespace

PlanKey key_of(const GemmProblem& problem, const Topology& machine,
               std::span<const MemoryId> devices, Policy policy) {
  std::erase_if(policy.overridden,
                [](const PolicyOverride& each) { return each.key == "effort"; });
  const GemmProblem p = work_of(checked(problem));
  const auto name = [&](const Layout& place) { return layout_text(place, machine); };
  PlanKey key{p.routine,
              p.m,
              p.n,
              p.k,
              p.dtype,
              p.trans_a,
              p.trans_b,
              p.alpha == 0,
              p.beta == 0,
              {name(p.place_a), name(p.place_b), name(p.place_c)},
              {p.lda, p.ldb, p.ldc},
              {},
              name_of(policy)};
  for (const MemoryId device : devices)
    key.devices.push_back(machine.processor_name(device));
  return key;
}

std::string text_of(const PlanKey& key) {
  std::string text =
      fmt::format("{} {},{},{} {} {}{} {}", to_string(key.routine), key.m, key.n, key.k,
                  to_string(key.dtype), to_string(key.trans_a), to_string(key.trans_b),
                  fmt::join(key.place, ":"));
  if (key.alpha_is_zero) text += " alpha=0";
  if (key.beta_is_zero) text += " beta=0";
  const bool a = key.trans_a == Trans::yes, b = key.trans_b == Trans::yes;
  const std::array<int64_t, 3> rows{a ? key.k : key.m, b ? key.n : key.k, key.m};
  for (size_t i = 0; i < 3; ++i)
    if (key.ld[i] > std::max<int64_t>(1, rows[i]))
      text += fmt::format(" ld{}={}", "abc"[i], key.ld[i]);
  return text;
}

std::string_view program_version() { return TILERAIL_PLANNING_VERSION; }

std::string tuned_hash(Plan& plan) {
  GemmProblem& problem = plan.gemm();
  const double alpha = problem.alpha, beta = problem.beta;
  problem.alpha = alpha == 0 ? 0 : 1, problem.beta = beta == 0 ? 0 : 1;
  std::string hash = content_hash(plan);
  problem.alpha = alpha, problem.beta = beta;
  return hash;
}

CacheOwner owner_of(const Topology& machine) {
  return {machine.name(), machine_hash(machine)};
}

PlanCache load_plan_cache(const std::string& file) {
  return read_plan_cache(read_file(file), file);
}

void require_owner(const PlanCache& cache, const CacheOwner& owner) {
  if (cache.owner == owner) return;
  throw InputError{
      "machine", cache.owner.machine,
      fmt::format("of hash {} is the machine of the plans", cache.owner.hash),
      fmt::format("'{}' of hash {}: {}", owner.machine, owner.hash,
                  cache.owner.machine == owner.machine
                      ? "its description has changed, so tune it again into another file"
                      : "name another file, or tune this machine into one"),
      cache.file};
}

PlanCache present_plan_cache(const std::string& file, const CacheOwner& owner) {
  if (!exists(file)) return {owner, {}, file};
  PlanCache cache = load_plan_cache(file);
  require_owner(cache, owner);
  return cache;
}

void keep_plan(const std::string& file, const CacheOwner& owner, const PlanKey& key,
               const TunedPlan& plan) {
  const FileLock lock{file};
  PlanCache cache = present_plan_cache(file, owner);
  cache.plans.insert_or_assign(key, plan);
  StagedFile{file, to_toml(cache)}.commit();
}

void require_writable_plan_cache(const std::string& file, const CacheOwner& owner) {
  const FileLock lock{file};
  StagedFile{file, to_toml(present_plan_cache(file, owner))};  // not committed
}

}  // namespace tilerail::study
