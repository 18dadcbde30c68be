#pragma once

#include "plan/plan.hpp"
#include "report/summary/summary.hpp"
#include "report/timeline/annotate.hpp"

namespace tilerail {

/// What the critical path of a timeline consists of, longest first; the seconds add up to the makespan. A copy counts
/// for the one of its links and groups that is used most in the whole run, as `used` has it by LinkId and GroupId.
std::vector<Summary::PathPart> critical_parts(const Plan& plan, const Topology& topology,
                                              const AnnotatedTimeline& timeline, const Summary& used);

}  // namespace tilerail
