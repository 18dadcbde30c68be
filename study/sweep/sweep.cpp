#include "study/sweep/sweep.hpp"

#include <fmt/format.h>

#include <set>

#include "model/base/error.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "study/sweep/keys.hpp"

namespace tilerail::study {
namespace {

void require_few_points(const Sweep& sweep) {
  constexpr double most = 1e6;
  double count = 1;
  for (const SweepAxis& axis : sweep.axes) count *= double(axis.values.size());
  if (count > most)
    throw fault_of("vary", fmt::format("the sweep has {:.4g} points", count),
                   fmt::format("at most {:.0f}", most));
}

void check_keys(const Sweep& sweep) {
  std::set<std::string> known;
  for (const SweepAxis& axis : sweep.axes)
    for (const std::string& key : axis.keys) try {
        JobText unused;
        set_key(unused, key, "");
        if (!known.insert(key).second) throw given_twice("", key);
      } catch (const InputError& error) {
        throw error.within(axis.place);
      }
}

/// All checks that need no planning.
void check_job(const JobText& job, Machines& machines) {
  MachineText plain = job.machine;
  plain.settings.clear();
  if (!machines.contains(plain.topology)) machines.emplace(plain.topology, plain.load());
  job.on(machine_of(job, machines));
}

/// Checks the first point. An error is located at the first axis that causes it; errors
/// of the base have no location.
void check_first(const Sweep& sweep, Machines& machines) {
  try {
    return check_job(sweep.job(0), machines);
  } catch (const InputError& error) {
    for (size_t count = 0; count <= sweep.axes.size(); ++count) try {
        check_job(sweep.job(0, count), machines);
      } catch (const InputError& earlier) {
        if (earlier == error)
          throw count > 0 ? error.within(sweep.axes[count - 1].place) : error;
      }
    throw;
  }
}

}  // namespace

size_t Sweep::points() const {
  size_t count = 1;
  for (const SweepAxis& axis : axes) count *= axis.values.size();
  return count;
}

size_t Sweep::index(size_t point, size_t axis) const {
  for (size_t later = axes.size(); --later > axis;) point /= axes[later].values.size();
  return point % axes[axis].values.size();
}

JobText Sweep::job(size_t point, size_t count) const {
  JobText job = base;
  for (size_t axis = 0; axis < count; ++axis)
    for (const std::string& key : axes[axis].keys)
      set_key(job, key, axes[axis].values[index(point, axis)]);
  return job;
}

Sweep sweep_of(JobText base, const std::vector<std::string>& axes) {
  Sweep sweep{std::move(base), {}};
  for (const std::string& axis : axes) sweep.axes.push_back(parse_axis(axis));
  return sweep;
}

Topology machine_of(const JobText& job, const Machines& machines) {
  return with_settings(machines.at(job.machine.topology), job.machine.settings);
}

Machines check_sweep(const Sweep& sweep, Machines machines) {
  require_few_points(sweep);
  check_keys(sweep);
  check_first(sweep, machines);
  size_t stride = sweep.points();
  for (const SweepAxis& axis : sweep.axes) {
    stride /= axis.values.size();
    for (size_t i = 1; i < axis.values.size(); ++i) try {
        check_job(sweep.job(i * stride), machines);
      } catch (const InputError& error) {
        throw error.within(axis.place);
      }
  }
  return machines;
}

}  // namespace tilerail::study
