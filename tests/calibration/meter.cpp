#include <algorithm>
#include <map>

#include "model/machine/concurrent_rates.hpp"
#include "tests/calibration/made_machine.hpp"

namespace tilerail::made {
namespace {

constexpr double MiB = 1 << 20;

std::string gpu(int i) { return "gpu" + std::to_string(i); }

}  // namespace

/// A linear congruential generator (Knuth, MMIX): the same numbers on every platform.
double Meter::with_noise(double value) {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  const double share = double(state_ >> 11) / double(uint64_t{1} << 53);
  return value * (1 + noise_ * (2 * share - 1));
}

/// Whether copies of a role outnumber the engines of the device.
bool Meter::in_turns(const Flows& flows) const {
  std::map<std::string, int> used;
  for (const FlowSpec& f : flows) {
    const bool in = f.src == "host", out = f.dst == "host";
    const Engines& engines =
        machine_.memory(*machine_.find_memory(in ? f.dst : f.src)).engines();
    const auto limit = in ? engines.h2d : out ? engines.d2h : engines.peer;
    const std::string role = in ? "<" + f.dst : f.src + (out ? ">" : "-");
    if (limit && (used[role] += f.in_flight) > *limit) return true;
  }
  return false;
}

std::vector<double> Meter::rates(const Flows& flows, double bytes) const {
  std::vector<std::pair<MemoryId, MemoryId>> ends;
  for (const FlowSpec& f : flows)
    ends.emplace_back(*machine_.find_memory(f.src), *machine_.find_memory(f.dst));
  std::vector<double> result;
  const auto shared = concurrent_rates(machine_, ends);
  for (size_t i = 0; i < ends.size(); ++i) {
    const auto& [src, dst] = ends[i];
    const double alone =
        bytes /
        (machine_.latency(src, dst) + Bytes{bytes} / machine_.pair_rate(src, dst)).value;
    result.push_back(std::min(alone, shared[i].value));
  }
  return result;
}

Meter::Flows Meter::host_with(const std::vector<int>& gpus, Direction direction) {
  Flows flows;
  for (const int g : gpus) {
    if (direction != Direction::from_gpus) flows.push_back({"host", gpu(g)});
    if (direction != Direction::to_gpus) flows.push_back({gpu(g), "host"});
  }
  return flows;
}

void Meter::run(Measurements& results, const std::string& kind, const Flows& flows,
                HostPages pages, double bytes) {
  TransferRun record;
  record.kind = kind, record.pages = pages, record.copy_bytes = bytes;
  const auto alone = rates(flows, bytes);
  double total = 0;
  for (size_t i = 0; i < flows.size(); ++i) {
    record.flows.push_back(
        {flows[i].src, flows[i].dst, flows[i].in_flight, measured(alone[i])});
    total += record.flows.back().rate.mean;
  }
  record.total = {total, noise_, 10};
  results.transfers.push_back(record);
}

/// Copies that one engine runs in turn: the second ends after twice the time.
void Meter::one_each(Measurements& results, const Flows& flows) {
  TransferRun record;
  record.kind = "one each", record.copy_bytes = 64 * MiB;
  const bool turns = in_turns(flows);
  const double alone = rates({flows[0]}, record.copy_bytes)[0];
  const auto together = rates(flows, record.copy_bytes);
  for (size_t i = 0; i < flows.size(); ++i)
    record.flows.push_back({flows[i].src, flows[i].dst, 1,
                            measured(turns ? alone / double(i + 1) : together[i])});
  record.total = record.flows.back().rate, record.total.mean *= double(flows.size());
  results.transfers.push_back(record);
}

void Meter::host_flows(Measurements& results, HostPages pages) {
  std::vector<int> all;
  for (int g = 0; g < count(); ++g) {
    run(results, "pair", host_with({g}, Direction::to_gpus), pages);
    run(results, "pair", host_with({g}, Direction::from_gpus), pages);
    run(results, "both ways", host_with({g}, Direction::both), pages);
    all.push_back(g);
  }
  for (int i = 0; i < count(); ++i)
    for (int j = i + 1; j < count(); ++j) {
      run(results, "two to GPUs", host_with({i, j}, Direction::to_gpus), pages);
      run(results, "two from GPUs", host_with({i, j}, Direction::from_gpus), pages);
      if (pages == HostPages::spread)
        run(results, "two both ways", host_with({i, j}, Direction::both), pages);
    }
  for (int size = 3; size < count(); ++size) {
    std::vector<std::vector<int>> sets{
        {all.begin(), all.begin() + size}, {all.end() - size, all.end()}, {}};
    for (int i = 0; i < size; ++i) sets.back().push_back(i * count() / size);
    for (const auto& set : sets)
      for (const Direction direction :
           {Direction::to_gpus, Direction::from_gpus, Direction::both})
        run(results, "subset", host_with(set, direction), pages);
  }
  if (count() < 2) return;
  run(results, "all to GPUs", host_with(all, Direction::to_gpus), pages);
  run(results, "all from GPUs", host_with(all, Direction::from_gpus), pages);
  run(results, "all both ways", host_with(all, Direction::both), pages);
}

void Meter::sizes(Measurements& results, const std::string& src, const std::string& dst) {
  for (const double bytes : {MiB / 4, MiB, 2 * MiB, 4 * MiB, 64 * MiB})
    run(results, "pair", {{src, dst}}, HostPages::spread, bytes);
  for (const int in_flight : {2, 3}) run(results, "in flight", {{src, dst, in_flight}});
  one_each(results, {{src, dst}, {src, dst}});
}

void Meter::peers(Measurements& results) {
  const int n = count();
  if (n < 2 || !machine_.has_route(machine_.gpus()[0], machine_.gpus()[1])) return;
  Flows every, ring;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      if (i == j) continue;
      run(results, "pair", {{gpu(i), gpu(j)}});
      if (i < j) run(results, "pair both ways", {{gpu(i), gpu(j)}, {gpu(j), gpu(i)}});
      if (every.empty()) sizes(results, gpu(i), gpu(j));
      every.push_back({gpu(i), gpu(j)});
      if (j != (i + 1) % n) continue;
      ring.push_back({gpu(i), gpu(j)});
      run(results, "to GPU and peer", {{"host", gpu(j)}, {gpu(i), gpu(j)}});
      run(results, "from GPU and peer", {{gpu(i), "host"}, {gpu(i), gpu(j)}});
      run(results, "to GPU and on to peer", {{"host", gpu(i)}, {gpu(i), gpu(j)}});
    }
  if (n < 3) return;
  one_each(results, {{gpu(0), gpu(1)}, {gpu(0), gpu(2)}});
  one_each(results, {{gpu(1), gpu(0)}, {gpu(2), gpu(0)}});
  run(results, "all pairs", every);
  run(results, "ring", ring);
  for (int g = 0; g < n; ++g)
    for (int width = 2; width < n; ++width) {
      Flows out, in;
      for (int i = 1; i <= width; ++i)
        out.push_back({gpu(g), gpu((g + i) % n)}),
            in.push_back({gpu((g + i) % n), gpu(g)});
      run(results, "fan out", out), run(results, "fan in", in);
    }
}

void Meter::columns(Measurements& results) {
  const double rate = 50 * giga;
  const auto add = [&](const std::string& src, const std::string& dst, double column,
                       double pitch, double between) {
    const StridedEfficiency& strided = machine_.description().strided;
    StridedRun run;
    run.src = src, run.dst = dst, run.between_bytes = between;
    run.column_bytes = column, run.columns = 4 * MiB / column, run.pitch_bytes = pitch;
    run.packed = {rate, 0, 10};
    const double again = Bytes{between} < strided.cache ? 1 : 0;
    run.strided = measured(
        rate *
        strided.of({.column = Bytes{column}, .pitch = Bytes{pitch}, .again = again}));
    results.strided.push_back(run);
  };
  for (const double between : {fills_any_cache, 0.})
    for (double column = 2048; column <= 65536; column *= 2)
      add("host", "gpu0", column, 131072, between),
          add("gpu0", "host", column, 131072, between);
  for (double between = 4e6; between <= 96e6; between += 4e6)
    add("host", "gpu0", 4096, 131072, between);
  for (const double pitch : {16384., 20000.})
    for (const double column : {2048., 4096., 8192.})
      add("host", "gpu0", column, pitch, fills_any_cache);
}

void Meter::kernels(Measurements& results) {
  const KernelTimes& times = machine_.kernels_of(machine_.gpus()[0]);
  const auto add = [&](DType dtype, long long m, long long n, long long k, double duty) {
    KernelRun run;
    run.gpu = "gpu0", run.dtype = dtype, run.m = m, run.n = n, run.k = k, run.duty = duty;
    run.seconds = measured(times.gemm_time(m, n, k, dtype, Trans::no, Trans::no).value *
                           times.curve(dtype, Trans::no, Trans::no).load_factor(duty));
    if (const auto watts = times.gemm_watts(dtype, Trans::no, Trans::no))
      run.watts = with_noise(idle_watts + duty * (watts->value - idle_watts)),
      run.watts_seconds = 0.5;
    results.kernels.push_back(run);
  };
  for (const DType dtype : {DType::f64, DType::f32}) {
    for (const long long s : {128, 256, 384, 512, 768, 1000, 1024, 1280, 1500, 1536, 2048,
                              2560, 3000, 3072, 4096, 5120, 6144, 8192})
      add(dtype, s, s, s, 0.4);
    for (const long long s : {512, 1024, 1536, 2048, 3072, 4096, 6144}) {
      for (const long long k : {s / 8, s / 4, s / 2, 2 * s, 4 * s})
        add(dtype, s, s, k, 0.4);
      for (const long long thin : {s / 16, s / 8, s / 4, s / 2})
        add(dtype, thin, s, s, 0.4), add(dtype, s, thin, s, 0.4);
    }
    for (const double duty : {0.6, 0.7, 0.8, 0.9, 1.0})
      add(dtype, 4096, 4096, 4096, duty);
    for (int bytes = int(element_size(dtype)); bytes <= 32; bytes *= 2) {
      add(dtype, 2048, 2048, 2048, 0.4);
      results.kernels.back().alignment = bytes;
      results.kernels.back().seconds.mean *=
          times.alignment_factor(dtype, Trans::no, Trans::no, bytes);
    }
  }
  results.memory.push_back({"gpu0", measured(times.memory_bandwidth->value)});
}

Measurements Meter::everything() {
  Measurements results;
  results.machine = "made", results.date = "2001-02-03",
  results.command = "tilerail calibrate";
  results.host_bytes = machine_.memory(machine_.hosts()[0]).capacity->value;
  for (int i = 0; i < count(); ++i)
    results.devices.push_back({gpu(i), i, "Made GPU", 80e9,
                               int(known_kernels().multiprocessors), idle_watts,
                               limit_watts});
  host_flows(results, HostPages::spread);
  sizes(results, "host", "gpu0"), sizes(results, "gpu0", "host");
  peers(results);
  columns(results);
  kernels(results);
  const IssueCost& issue = machine_.description().issue;
  for (int threads = 1; threads <= count();
       threads = threads < count() ? count() : threads + 1) {
    const double each = threads,
                 call = double(threads) / count();  // simultaneous calls take longer
    results.issue.push_back({"copy", threads, measured(0.8 * each * issue.per_op.value)});
    results.issue.push_back(
        {"2-D copy", threads, measured(1.2 * each * issue.per_op.value)});
    results.issue.push_back({"gemm", threads, measured(each * issue.per_kernel->value)});
    results.issue.push_back({"call", threads, measured(call * issue.per_call.value)});
    results.issue.push_back(
        {"record and wait", threads, measured(each * issue.per_dependency.value)});
  }
  results.issue.push_back({"hand on", 1, measured(issue.hand_on.value)});
  results.issue.push_back({"graph call", 1, measured(issue.graph->per_call.value)});
  results.issue.push_back({"graph copy", 1, measured(issue.graph->per_copy.value)});
  results.issue.push_back({"graph kernel", 1, measured(issue.graph->per_kernel.value)});
  results.issue.push_back(
      {"graph dependency", 1, measured(issue.graph->per_dependency.value)});
  if (count() > 1)
    results.issue.push_back(
        {"graph of GPUs", 1, measured(issue.graph->between_gpus.value)});
  return results;
}

}  // namespace tilerail::made
