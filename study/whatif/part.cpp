#include "study/whatif/part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "study/whatif/alike.hpp"
#include "study/whatif/faster.hpp"

namespace tilerail::study {
namespace {

bool fits(const std::string& pattern, const Knob& knob, const Topology& topology) {
  return fnmatch(pattern.c_str(), name_of(knob, topology).c_str(), 0) == 0;
}

std::string name_of_class(const std::vector<Knob>& knobs, const Topology& topology) {
  const Knob::Kind kind = knobs.front().kind;
  if (kind == Knob::Kind::latency && knobs.size() > 1) return "latency of all links";
  std::vector<std::string> places;
  for (const Knob& knob : knobs) places.push_back(place_of(knob, topology));
  const std::string place = common_name(places);
  return place.empty() ? to_string(kind) : fmt::format("{}:{}", to_string(kind), place);
}

/// Ranges can say the same of different classes: gpu0->gpu2 and gpu1->gpu3, or gpu0->gpu3 and gpu1->gpu2. Such parts
/// are named by their first knobs.
void tell_apart(std::vector<Part>& parts, const Topology& topology) {
  std::map<std::string, int> count;
  for (const Part& part : parts) ++count[part.name];
  for (Part& part : parts) {
    if (count[part.name] < 2 || part.knobs.size() < 2) continue;
    const std::string second = place_of(part.knobs[1], topology);
    part.name = fmt::format("{}, {}", name_of(part.knobs[0], topology), second);
    if (part.knobs.size() > 2) part.name += fmt::format(" and {} more", part.knobs.size() - 2);
  }
}

/// The knob of this very name, else those that the pattern fits, one after another as the machine has them.
std::vector<Knob> fitting_if_any(const std::string& pattern, const Topology& topology) {
  std::vector<Knob> found;
  for (const Knob& knob : knobs_of(topology)) {
    if (name_of(knob, topology) == pattern) return {knob};
    if (fits(pattern, knob, topology)) found.push_back(knob);
  }
  return found;
}

/// The same; throws InputError where there is none.
std::vector<Knob> fitting(const std::string& pattern, const Topology& topology, std::string_view subject) {
  std::vector<Knob> found = fitting_if_any(pattern, topology);
  if (!found.empty()) return found;
  const std::vector<Knob> all = knobs_of(topology);
  std::set<std::string_view> kinds;
  for (const Knob& knob : all) kinds.insert(to_string(knob.kind));
  throw InputError{subject, pattern, fmt::format("is not a part of {}", topology.name()),
                   fmt::format("a name or a pattern such as 'link:{}', of: {}", place_of(all.front(), topology),
                               fmt::join(kinds, ", "))};
}

Part part_together(const std::string& text, const Topology& topology) {
  Part part{text, {}, true};
  const auto is_pattern = [&](const std::string& each) { return !fitting_if_any(each, topology).empty(); };
  std::vector<std::string> patterns = known_parts(text, is_pattern);
  if (patterns.empty())  // one of them is unknown, which is told below
    for (const std::string_view pattern : split(text, '&')) patterns.push_back(trimmed(pattern));
  for (const std::string& pattern : patterns)
    for (const Knob& knob : fitting(pattern, topology, "together"))
      if (std::ranges::find(part.knobs, knob) == part.knobs.end()) part.knobs.push_back(knob);
  if (part.knobs.size() == 1)
    throw InputError{"together", text, "is one part alone", "several, such as 'link:a->b & link:b->a'"};
  std::ranges::sort(part.knobs);
  return part;
}

/// Those that one of the patterns fits.
std::vector<Part> selected(std::vector<Part> parts, const Topology& topology, const std::vector<std::string>& only) {
  if (only.empty()) return parts;
  std::set<Knob> meant;
  for (const std::string& pattern : only)
    for (const Knob& knob : fitting(pattern, topology, "only")) meant.insert(knob);
  std::erase_if(parts, [&](const Part& part) {
    return std::ranges::none_of(part.knobs, [&](const Knob& knob) { return meant.contains(knob); });
  });
  return parts;
}

}  // namespace

bool Part::carries() const {
  return std::ranges::none_of(knobs, [](const Knob& knob) { return knob.kind == Knob::Kind::kernels; });
}

std::vector<Part> parts_of(const Topology& topology, const GemmProblem& problem, std::span<const MemoryId> devices,
                           const PartSelection& selection) {
  std::vector<Part> parts;
  Part moving{"all links and groups", {}, true};
  for (std::vector<Knob>& alike : classes_of_alike(topology, problem, devices)) {
    if (alike.front().kind == Knob::Kind::link || alike.front().kind == Knob::Kind::group)
      moving.knobs.insert(moving.knobs.end(), alike.begin(), alike.end());
    if (!selection.each)
      parts.push_back({name_of_class(alike, topology), alike});
    else
      for (const Knob& knob : alike) parts.push_back({name_of(knob, topology), {knob}});
  }
  tell_apart(parts, topology);
  const auto carriers = std::ranges::count_if(
      parts, [](const Part& part) { return part.of(Knob::Kind::link) || part.of(Knob::Kind::group); });
  parts = selected(std::move(parts), topology, selection.only);
  std::ranges::sort(moving.knobs);
  if (selection.only.empty() && carriers > 1) parts.push_back(std::move(moving));
  std::set<std::string> together;
  for (const std::string& text : selection.together) {
    if (!together.insert(text).second) throw given_twice("together", text);
    parts.push_back(part_together(text, topology));
  }
  return parts;
}

std::string value_of(const Part& part, const Topology& topology, const GemmProblem& problem) {
  std::vector<std::string> values;
  for (const Knob& knob : part.knobs) {
    std::string value = value_of(knob, topology, problem);
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  if (values.size() <= 2) return fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("{}, {} ...", values[0], values[1]);
}

bool can_change(const Part& part, const Topology& topology, double factor) {
  return std::ranges::any_of(part.knobs, [&](const Knob& knob) {
    if (knob.kind != Knob::Kind::engine) return true;
    Memory memory = topology.description().memories[knob.index];
    const auto before = engines_of(memory, knob.role);
    multiply_engines(memory, knob.role, factor);
    return engines_of(memory, knob.role) != before;
  });
}

}  // namespace tilerail::study
