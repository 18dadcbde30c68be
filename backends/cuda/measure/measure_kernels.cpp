#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "backends/cuda/measure/measure_tasks.hpp"
#include "backends/cuda/measure/power_watch.hpp"
#include "model/base/threads.hpp"

namespace tilerail::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using Gemm = KernelMeter::Gemm;

constexpr double burst_seconds = 0.005;  // kernels without a pause
constexpr double rested = 0.4;           // duty of the device if power is not the subject
constexpr double settle_seconds = 0.3;   // until the power has settled
constexpr int least_batch = 25;          // kernels short enough for the issue time to
                                         // matter
constexpr int most_issued = 64;          // kernels that streams queue without a wait
constexpr double felt_seconds = 0.25;    // time in which load takes effect, if it does
constexpr double loaded_seconds =
    0.2;  // one sample under load: three contain several steps of the energy counter

class Kernels {
 public:
  explicit Kernels(Bench& bench) : bench_{bench} {}

  void add() {
    for (const DType type :
         {DType::f32, DType::tf32, DType::f16, DType::bf16, DType::f64}) {
      bench_.tasks.push_back(
          {"filling with random numbers", [type, &bench = bench_](Stopwatch&) {
             for (const auto& device : bench.devices) KernelMeter{*device}.fill(type);
           }});
      squares(type);
      shapes(type);
      transposes(type);
      unaligned(type);
      for (const int64_t s : sides_side_by_side)
        alone({type, s, s, s}, streams_side_by_side);
      add_graph_kernel_tasks(bench_, type);
      for (int repeat = 0; repeat < 3; ++repeat)
        rested_then_loaded({type, 4096, 4096, 4096});
      for (const double duty : {0.6, 0.7, 0.8, 0.9, 1.0})
        loaded({type, 4096, 4096, 4096}, duty);
    }
    for (const int64_t s : {2048, 4096}) everywhere({DType::f64, s, s, s});
    bench_.tasks.push_back({"device memory", [&bench = bench_](Stopwatch& watch) {
                              KernelMeter meter{*bench.devices.front()};
                              const SampleMean rate =
                                  watch.repeat_one([&] { return meter.memory_rate(50); });
                              bench.results.memory.push_back({Bench::name(0), rate});
                            }});
  }

 private:
  void squares(DType type) {
    for (const int64_t s : {128, 256, 384, 512, 768, 1024, 1280, 1536, 2048, 2560, 3072,
                            4096, 5120, 6144, 8192})
      alone({type, s, s, s});
  }

  /// Panels, slabs and odd sizes, as at the edges and in the k pieces of plans.
  void shapes(DType type) {
    const bool all = type == DType::f64;
    std::vector<int64_t> sides{1024, 2048, 4096};
    if (all) sides = {512, 1024, 1536, 2048, 3072, 4096, 6144};
    for (const int64_t s : sides) {
      for (const int64_t k : {s / 8, s / 4, s / 2, 2 * s, 4 * s}) alone({type, s, s, k});
      for (const int64_t thin : {s / 16, s / 8, s / 4, s / 2}) {
        alone({type, thin, s, s});
        if (all || thin == s / 4) alone({type, s, thin, s});
      }
      for (const int64_t edge :
           {s / 8 * 5, s / 4 * 3, s / 8 * 7}) {  // sizes of the last tiles of a row or a
                                                 // column
        alone({type, edge, s, s});
        alone({type, s, edge, s});
      }
    }
    std::vector<int64_t> ragged{1000, 3000};
    if (all)
      ragged = {300, 700, 1000, 1500, 1700, 2000, 2176, 2500, 3000, 3750, 5000, 7500};
    for (const int64_t s : ragged) {
      alone({type, s, s, s});
      if (!all) continue;
      alone({type, s, s, 2048});
      alone({type, s, 2048, 2048});
    }
  }

  /// Other transposes run other kernels: the most frequent tiles of plans, and their
  /// edges.
  void transposes(DType type) {
    for (const auto& [ta, tb] : {std::pair{Trans::no, Trans::yes},
                                 {Trans::yes, Trans::no},
                                 {Trans::yes, Trans::yes}}) {
      for (const int64_t s : {512, 768, 1024, 1536, 2048, 3072, 4096, 6144})
        alone({type, s, s, s, ta, tb});
      for (const int64_t s : {1024, 2048, 4096}) {
        for (const int64_t k : {s / 4, s / 2}) alone({type, s, s, k, ta, tb});
        alone({type, s / 4, s, s, ta, tb});
        alone({type, s, s / 4, s, ta, tb});
      }
      alone({type, 2048, 2048, 8192, ta, tb});
    }
  }

  /// Columns whose length is an odd multiple of 2, 4, 8, 16 and 32 bytes.
  void unaligned(DType type) {
    for (int64_t bytes = element_size(type); bytes <= 32; bytes *= 2)
      for (const int64_t s : {2048, 4096})
        alone({type, s, s, s, Trans::no, Trans::no, bytes / element_size(type)});
  }

  static KernelRun record_of(int gpu, const Gemm& g, int streams, double duty,
                             SampleMean seconds) {
    KernelRun run;
    run.gpu = Bench::name(gpu), run.dtype = g.dtype,
    run.trans = fmt::format("{}{}", to_string(g.trans_a), to_string(g.trans_b));
    run.m = g.m, run.n = g.n, run.k = g.k;
    run.at_once = streams, run.duty = duty, run.seconds = seconds;
    run.alignment = int(g.extra * element_size(g.dtype));
    return run;
  }

  static int batch_of(double seconds) {
    return std::clamp(int(burst_seconds / seconds), 1, 200);
  }

  /// Runs a burst of kernels, then pauses until the device was busy for `duty` of the
  /// time since the call.
  static double burst(KernelMeter& meter, const Gemm& g, int batch, int streams,
                      double duty) {
    const auto begin = Clock::now();
    const double each = meter.gemm(g, batch, streams);
    std::this_thread::sleep_until(
        begin + std::chrono::duration<double>(each * batch * streams / duty));
    return each;
  }

  /// Runs bursts for at least `seconds`. Returns the mean time of a kernel.
  static double bursts(KernelMeter& meter, const Gemm& g, int batch, double duty,
                       double seconds) {
    std::vector<double> each;
    for (const auto begin = Clock::now();
         Clock::now() - begin < std::chrono::duration<double>(seconds);)
      each.push_back(burst(meter, g, batch, 1, duty));
    return mean_of(each).mean;
  }

  /// Measures a shape on a device within its power limit.
  void alone(const Gemm& g, int streams = 1) {
    bench_.tasks.push_back(
        {"kernels", [=, &bench = bench_](Stopwatch& watch) {
           KernelMeter meter{*bench.devices.front()};
           const int batch =
               std::max(1, batch_of(burst(meter, g, 2, streams, rested)) / streams);
           // If kernels take longer than issuing them, the issue time does not matter,
           // and streams fill.
           const bool issued = streams == 1 && batch >= least_batch;
           const auto time = watch.repeat([&] {
             const double issue = issued ? meter.issue_time(g, most_issued) : 1;
             return std::vector{issue, burst(meter, g, batch, streams, rested)};
           });
           KernelRun run = record_of(0, g, streams, rested, time[1]);
           if (issued) run.issue = time[0];
           bench.results.kernels.push_back(run);
         }});
  }

  /// Records when a rested device begins to slow down under load.
  void rested_then_loaded(const Gemm& g) {
    bench_.tasks.push_back(
        {"kernels after a rest", [=, &bench = bench_](Stopwatch& watch) {
           KernelMeter meter{*bench.devices.front()};
           const int group = batch_of(meter.gemm(g, 2));
           watch.repeat_once();
           bench.results.loads.push_back(
               {Bench::name(0), g.dtype, g.m, meter.series(g, group, felt_seconds)});
         }});
  }

  /// Measures a shape at this duty of the device, once its power has settled.
  void loaded(const Gemm& g, double duty) {
    bench_.tasks.push_back(
        {"kernels under load", [=, &bench = bench_](Stopwatch& watch) {
           KernelMeter meter{*bench.devices.front()};
           const int batch = batch_of(meter.gemm(g, 2));
           bursts(meter, g, batch, duty, settle_seconds);
           PowerWatch power{bench.power, {bench.devices.front()->device.ordinal()}};
           const SampleMean time = watch.repeat_one(
               [&] { return bursts(meter, g, batch, duty, loaded_seconds); });
           const CounterTrace trace = power.stop().front();
           KernelRun run = record_of(0, g, 1, duty, time);
           if (const auto watts = trace.watts())
             run.watts = *watts, run.watts_seconds = trace.span();
           bench.results.kernels.push_back(run);
         }});
  }

  /// Measures a shape on all devices simultaneously: they share power and cooling, and no
  /// two are equal.
  void everywhere(const Gemm& g) {
    if (bench_.count() < 2) return;
    bench_.tasks.push_back(
        {"kernels on all devices", [=, &bench = bench_](Stopwatch& watch) {
           const int batch = batch_of(KernelMeter{*bench.devices.front()}.gemm(g, 2));
           const auto on_one = [&](BenchDevice& device) {
             KernelMeter meter{device};
             double each = 0;
             for (int repeat = 0; repeat < 3; ++repeat)
               each = burst(meter, g, batch, 1, rested);
             return each;
           };
           const auto on_all = [&] {
             std::vector<double> times(bench.devices.size());
             run_together(times.size(),
                          [&](size_t d) { times[d] = on_one(*bench.devices[d]); });
             return times;
           };
           const auto times = watch.repeat(on_all);
           for (int d = 0; d < bench.count(); ++d)
             bench.results.kernels.push_back(
                 record_of(d, g, 1, rested, times[size_t(d)]));
         }});
  }

  Bench& bench_;
};

}  // namespace

void add_kernel_tasks(Bench& bench) { Kernels{bench}.add(); }

}  // namespace tilerail::cuda
