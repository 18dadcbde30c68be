#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>

#include "model/base/files.hpp"
#include "model/base/indices.hpp"
#include "plan/describe.hpp"
#include "plan/json.hpp"
#include "plan/op_kinds.hpp"
#include "plan/validate.hpp"
#include "python/binding/convert.hpp"
#include "report/compare/compare.hpp"
#include "report/summary/summary.hpp"
#include "report/timeline/timeline_csv.hpp"
#include "report/trace/trace.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "study/evaluation.hpp"
#include "study/job_result.hpp"

namespace tilerail::python {
namespace {

using study::Job;
using study::JobResult;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

/// `cache`: a file, or empty. The environment is ignored.
std::shared_ptr<Job> plan_of(const Topology& machine, const Texts& texts,
                             const std::string& cache) {
  const auto tuned =
      cache.empty() ? study::TunedPlans{} : study::TunedPlans{cache, machine};
  return std::make_shared<Job>(study::plan_job(machine, job_of(texts), tuned));
}

std::shared_ptr<Job> fitting(const Topology& machine, Plan plan) {
  require_fit(plan, machine);
  return std::make_shared<Job>(Job{machine, std::move(plan)});
}

/// From a file, or from its text.
std::shared_ptr<Job> load_plan(const Topology& machine, const std::string& file) {
  return fitting(machine, plan_from_json(InputFile{file}.stream(), file));
}
std::shared_ptr<Job> read_plan(const Topology& machine, const std::string& json) {
  std::istringstream text{json};
  return fitting(machine, plan_from_json(text, "plan"));
}

std::shared_ptr<Job> plan_on(const Topology& machine, const Job& job) {
  return fitting(machine, job.plan);
}

std::string json_of(const Job& job) {
  std::string text;
  write_json(job.plan, [&](std::string_view part) { text += part; });
  return text;
}

nb::dict decisions(const Job& job) {
  nb::dict all;
  for (const PlanDecision& decision : job.plan.origin.decisions)
    all[decision.key.c_str()] = decision.value;
  return all;
}

std::vector<std::string> processors(const Job& job) {
  std::vector<std::string> names;
  for (const MemoryId device : job.plan.devices)
    names.push_back(job.topology.processor_name(device));
  return names;
}

/// A column of names: the number of each row's name, and the names.
class Names {
 public:
  void add(const std::string& name) { codes_.push_back(int32_t(table_.intern(name))); }
  nb::object column() {
    nb::list names;
    for (uint32_t i = 0; i < table_.size(); ++i) names.append(table_[i].c_str());
    return nb::make_tuple(array_of(std::move(codes_)), names);
  }

 private:
  StringTable table_;
  std::vector<int32_t> codes_;
};

/// The columns of a timeline file (docs/formats.md#timeline) but `op`, the row.
nb::dict columns_of(const AnnotatedTimeline& timeline) {
  Names kind, queue, device, src, dst, route, label;
  std::vector<int64_t> bytes;
  std::vector<double> flops, ready, start, end;
  for (const AnnotatedOp& op : timeline.ops) {
    const AnnotatedQueue& of = timeline.queue_of(op);
    kind.add(std::string{to_string(op.kind)});
    queue.add(of.name);
    device.add(of.device);
    src.add(of.src);
    dst.add(of.dst);
    route.add(of.route);
    label.add(timeline.label_of(op));
    bytes.push_back(op.bytes);
    flops.push_back(op.flops);
    ready.push_back(op.ready);
    start.push_back(op.start);
    end.push_back(op.end);
  }
  nb::dict columns;
  columns["kind"] = kind.column();
  columns["queue"] = queue.column();
  columns["device"] = device.column();
  columns["src"] = src.column();
  columns["dst"] = dst.column();
  columns["bytes"] = array_of(std::move(bytes));
  columns["flops"] = array_of(std::move(flops));
  columns["route"] = route.column();
  columns["label"] = label.column();
  columns["ready_s"] = array_of(std::move(ready));
  columns["start_s"] = array_of(std::move(start));
  columns["end_s"] = array_of(std::move(end));
  return columns;
}

/// The run of a timeline, by the keys of its file.
nb::dict facts_of(const AnnotatedTimeline& timeline) {
  const TimelineMetadata& metadata = timeline.metadata;
  nb::dict facts;
  facts["plan_hash"] = metadata.plan_hash;
  facts["machine"] = metadata.machine;
  facts["policy"] = metadata.policy;
  facts["problem"] = metadata.problem;
  facts["tile"] = metadata.tile;
  facts["backend"] = metadata.backend;
  facts["devices"] = metadata.devices;
  facts["hosts"] = metadata.hosts;
  return facts;
}

nb::tuple timeline_of(const AnnotatedTimeline& timeline) {
  return nb::make_tuple(columns_of(timeline), facts_of(timeline));
}
nb::tuple timeline(const JobResult& result) { return timeline_of(result.timeline); }
nb::tuple read_timeline(const std::string& file) {
  const AnnotatedTimeline timeline = [&] {
    const nb::gil_scoped_release unlocked;
    return load_timeline(file);
  }();
  return timeline_of(timeline);
}

/// The result with this timeline, without the times of other iterations.
std::shared_ptr<JobResult> read_result(const Job& job, const std::string& csv) {
  JobResult result{timeline_from_csv(csv, "timeline"), {}};
  result.summary = summarize(job.plan, job.topology, result.timeline, {});
  return std::make_shared<JobResult>(std::move(result));
}

/// The summary's figures that Python reads most.
nb::dict figures(const JobResult& result) {
  const Summary& summary = result.summary;
  const auto fits = [](const Summary::MemoryUse& memory) { return memory.fits(); };
  nb::dict all;
  all["backend"] = summary.metadata.backend.c_str();
  all["makespan"] = summary.makespan_s;
  all["tflops"] = summary.tflops;
  all["bound"] = summary.bound.time.value;
  all["bound_by"] = to_text(summary.bound.binding).c_str();
  all["bottleneck"] = to_string(study::evaluation_of(summary).bottleneck);
  all["busiest"] = summary.critical_path.empty() ? std::string{}
                                                 : to_text(summary.critical_path.front());
  all["fits"] = std::ranges::all_of(summary.memories, fits);
  return all;
}

/// Replaces the file as a whole.
void write_file(const std::string& path, const std::string& text) {
  StagedFile{path, text}.commit();
}

std::vector<std::string> policy_fields() {
  std::vector<std::string> keys;
  for (const PolicyField& field : fields_of(any_preset("tilerail")))
    keys.push_back(field.key);
  return keys;
}

nb::object compared(const JobResult& predicted, const JobResult& measured) {
  return python_of(Json::parse(to_json(compare(predicted.timeline, measured.timeline))));
}

JobResult run(const Job& job, const std::string& backend, int warmup, int iterations,
              uint64_t seed, bool check, double energy_seconds) {
  study::RunSettings settings;
  settings.warmup = warmup;
  settings.iterations = iterations;
  settings.seed = seed;
  settings.check = check;
  settings.energy_seconds = energy_seconds;
  return study::run_job(job, backend, settings);
}

}  // namespace

void add_plan(nb::module_& module) {
  nb::class_<Job>(module, "Plan")
      .def_ro("machine", &Job::topology)
      .def_prop_ro("hash", [](const Job& job) { return content_hash(job.plan); })
      .def_prop_ro("policy", [](const Job& job) { return job.plan.policy; })
      .def_prop_ro("tile", [](const Job& job) { return job.plan.tile; })
      .def_prop_ro("ops", [](const Job& job) { return job.plan.ops.size(); })
      .def_prop_ro("processors", processors)
      .def_prop_ro("decisions", decisions)
      .def_prop_ro("plan_s", [](const Job& job) { return job.plan_s; })
      .def("to_json", json_of, Unlocked{});
  nb::class_<JobResult>(module, "Result")
      .def("figures", figures)
      .def("summary",
           [](const JobResult& result) {
             const auto json = [&] {
               const nb::gil_scoped_release unlocked;
               return Json::parse(study::to_json(result));
             }();
             return python_of(json);
           })
      .def(
          "text", [](const JobResult& r) { return summary_table(r.summary); }, Unlocked{})
      .def("timeline", timeline)
      .def(
          "timeline_csv", [](const JobResult& r) { return to_csv(r.timeline); },
          Unlocked{})
      .def(
          "trace_json",
          [](const JobResult& r) {
            const std::array timelines{NamedTimeline{"timeline", &r.timeline}};
            return to_chrome_json(timelines);
          },
          Unlocked{});
  module.def("plan", plan_of, Unlocked{});
  module.def("load_plan", load_plan, Unlocked{});
  module.def("plan_on", plan_on, Unlocked{});
  module.def("read_plan", read_plan, Unlocked{});
  module.def("read_result", read_result, Unlocked{});
  module.def("simulate", study::simulate_job, Unlocked{});
  module.def("run", run, Unlocked{});
  module.def("compare", compared);
  module.def("read_timeline", read_timeline);
  module.def("write_file", write_file, Unlocked{});
  module.def("policy_fields", policy_fields);
}

}  // namespace tilerail::python
