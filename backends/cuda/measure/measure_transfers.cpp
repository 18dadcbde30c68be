#include <algorithm>

#include "backends/cuda/measure/measure_tasks.hpp"

namespace tilerail::cuda {
namespace {

constexpr size_t MiB = size_t{1} << 20;
constexpr size_t tile_bytes = 16 * MiB;  // size of a copy if the size is not varied
constexpr size_t strided_bytes = 4 * MiB,
                 leading = 128 << 10;  // a 2-D copy out of a 16384 x N matrix
constexpr auto forgotten = size_t(fills_any_cache);

class Transfers {
 public:
  explicit Transfers(Bench& bench) : bench_{bench} {}

  void add() {
    for (const HostPages pages : {HostPages::spread, HostPages::plain}) host_flows(pages);
    sizes(host_end, 0), sizes(0, host_end);
    peers();
    for (int g = 0; g < bench_.count(); ++g)
      latencies(host_end, g), latencies(g, host_end);
    columns(host_end, 0), columns(0, host_end);
    for (size_t kib = 4; kib <= 64; kib *= 2) strided_flows(kib << 10);
    if (bench_.count() > 1 && bench_.flows.reaches(0, 1)) columns(0, 1), latencies(0, 1);
  }

 private:
  using Flows = std::vector<FlowSpec>;

  /// The number of copies to time: more for peer copies, which are faster.
  static size_t copies_of(const Flows& flows, size_t bytes) {
    const bool host = std::ranges::any_of(
        flows, [](const FlowSpec& f) { return f.src == host_end || f.dst == host_end; });
    const size_t total = (host ? 384 : 1024) * MiB;
    return std::clamp<size_t>(total / bytes, 6, 160);
  }

  /// `measured`: the rate of each flow, then their sum.
  static TransferRun record_of(const std::string& kind, const Flows& flows, size_t bytes,
                               const std::vector<SampleMean>& measured) {
    TransferRun record;
    record.kind = kind, record.total = measured.back();
    record.copy_bytes = double(bytes);
    for (size_t i = 0; i < flows.size(); ++i)
      record.flows.push_back({Bench::name(flows[i].src), Bench::name(flows[i].dst),
                              flows[i].in_flight, measured[i]});
    return record;
  }

  void run(const std::string& kind, const Flows& flows,
           HostPages pages = HostPages::spread, size_t bytes = tile_bytes,
           size_t column = 0) {
    bench_.tasks.push_back(
        {kind, [=, &bench = bench_](Stopwatch& watch) {
           const FlowMeter::Shape shape =
               column > 0 ? FlowMeter::Shape{column, bytes / column, leading}
                          : FlowMeter::Shape{bytes, 1, bytes};
           const auto measured = watch.repeat([&] {
             auto rates = bench.flows.rates(flows, pages, shape, copies_of(flows, bytes));
             double total = 0;
             for (const double rate : rates) total += rate;
             rates.push_back(total);
             return rates;
           });
           TransferRun record = record_of(kind, flows, bytes, measured);
           record.pages = pages, record.column_bytes = double(column);
           bench.results.transfers.push_back(record);
         }});
  }

  enum class Direction { to_gpus, from_gpus, both };
  static Flows host_with(const std::vector<int>& gpus, Direction direction) {
    Flows flows;
    for (const int g : gpus) {
      if (direction != Direction::from_gpus) flows.push_back({host_end, g});
      if (direction != Direction::to_gpus) flows.push_back({g, host_end});
    }
    return flows;
  }
  std::vector<int> gpus(int from, int to) const {
    std::vector<int> result;
    for (int g = from; g < to; ++g) result.push_back(g);
    return result;
  }

  void host_flows(HostPages pages) {
    const int n = bench_.count();
    for (int g = 0; g < n; ++g) {
      run("pair", host_with({g}, Direction::to_gpus), pages);
      run("pair", host_with({g}, Direction::from_gpus), pages);
      run("both ways", host_with({g}, Direction::both), pages);
    }
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j) {
        run("two to GPUs", host_with({i, j}, Direction::to_gpus), pages);
        run("two from GPUs", host_with({i, j}, Direction::from_gpus), pages);
        if (pages == HostPages::spread)
          run("two both ways", host_with({i, j}, Direction::both), pages);
      }
    for (int size = 3; size < n; ++size) subsets(size, pages);
    if (n < 2) return;
    run("all to GPUs", host_with(gpus(0, n), Direction::to_gpus), pages);
    run("all from GPUs", host_with(gpus(0, n), Direction::from_gpus), pages);
    run("all both ways", host_with(gpus(0, n), Direction::both), pages);
  }

  /// Simultaneous 2-D copies between the host and several devices, which load shared
  /// links differently than packed copies.
  void strided_flows(size_t column) {
    const auto strided = [&](const std::string& kind, int count, Direction direction) {
      run("2-D " + kind, host_with(gpus(0, count), direction), HostPages::spread,
          strided_bytes, column);
    };
    strided("both ways", 1, Direction::both);
    for (int count = 2; count <= bench_.count(); count *= 2) {
      strided("to GPUs", count, Direction::to_gpus);
      strided("from GPUs", count, Direction::from_gpus);
      strided("both ways", count, Direction::both);
    }
  }

  /// Sets of neighbouring and of evenly spaced devices: within a group and across groups,
  /// wherever groups end.
  void subsets(int size, HostPages pages) {
    const int n = bench_.count();
    std::vector<std::vector<int>> sets{gpus(0, size), gpus(n - size, n), {}};
    for (int i = 0; i < size; ++i) sets.back().push_back(i * n / size);
    for (const auto& set : sets)
      for (const Direction direction :
           {Direction::to_gpus, Direction::from_gpus, Direction::both})
        run("subset", host_with(set, direction), pages);
  }

  /// Copies of several sizes one after another, and several simultaneously.
  void sizes(int src, int dst) {
    for (const size_t bytes : {MiB / 4, MiB, 2 * MiB, 4 * MiB, 64 * MiB})
      run("pair", {{src, dst}}, HostPages::spread, bytes);
    for (const int in_flight : {2, 3}) run("in flight", {{src, dst, in_flight}});
    one_each({{src, dst}, {src, dst}});
  }

  /// One large copy of each flow. If one engine serializes them, the last one ends after
  /// the time of all.
  void one_each(const Flows& flows) {
    bench_.tasks.push_back({"one copy each", [=, &bench = bench_](Stopwatch& watch) {
                              constexpr size_t bytes = 64 * MiB;
                              const FlowMeter::Shape shape{bytes, 1, bytes};
                              const auto measured = watch.repeat([&] {
                                auto rates = bench.flows.finish_times(flows, shape);
                                std::ranges::sort(rates);  // the order can vary
                                for (double& rate : rates) rate = double(bytes) / rate;
                                rates.push_back(rates.back() * double(rates.size()));
                                return rates;
                              });
                              bench.results.transfers.push_back(
                                  record_of("one each", flows, bytes, measured));
                            }});
  }

  bool reaches(int i, int j) const { return i != j && bench_.flows.reaches(i, j); }

  void peers() {
    const int n = bench_.count();
    if (n < 2) return;
    Flows every;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (reaches(i, j)) every.push_back({i, j});
    for (const FlowSpec& flow : every) {
      pair(flow.src, flow.dst);
      if (&flow == &every.front()) sizes(flow.src, flow.dst);
      if (flow.dst == (flow.src + 1) % n) neighbours(flow.src, flow.dst);
    }
    const bool is_complete = every.size() == size_t(n) * size_t(n - 1);
    if (is_complete && n >= 3) many_peers(every);
  }

  void pair(int i, int j) {
    run("pair", {{i, j}});
    if (i < j && reaches(j, i)) run("pair both ways", {{i, j}, {j, i}});
  }

  /// Copies between two GPUs together with copies between one of them and the host.
  void neighbours(int i, int j) {
    run("to GPU and peer", {{host_end, j}, {i, j}});
    run("from GPU and peer", {{i, host_end}, {i, j}});
    run("to GPU and on to peer", {{host_end, i}, {i, j}});
  }

  /// At least three GPUs with peer access between all pairs.
  void many_peers(const Flows& every) {
    const int n = bench_.count();
    one_each({{0, 1}, {0, 2}});
    one_each({{1, 0}, {2, 0}});
    run("all pairs", every);
    Flows ring;
    for (int g = 0; g < n; ++g) ring.push_back({g, (g + 1) % n});
    run("ring", ring);
    for (int g = 0; g < n; ++g)
      for (int width = 2; width < n; ++width) fans(g, width);
    Flows fed = ring, drained = ring;
    for (int g = 0; g < n; ++g) {
      fed.push_back({host_end, g});
      drained.push_back({g, host_end});
    }
    run("ring and to GPUs", fed);
    run("ring and from GPUs", drained);
  }

  /// Copies from one GPU to the following `width` GPUs, and back.
  void fans(int gpu, int width) {
    const int n = bench_.count();
    Flows out, in;
    for (int i = 1; i <= width; ++i) {
      const int other = (gpu + i) % n;
      out.push_back({gpu, other});
      in.push_back({other, gpu});
    }
    run("fan out", out);
    run("fan in", in);
  }

  void latencies(int src, int dst) {
    bench_.tasks.push_back(
        {"latency", [=, &bench = bench_](Stopwatch& watch) {
           const auto measured = watch.repeat([&] {
             return std::vector{bench.flows.latency(src, dst, 400, false),
                                bench.flows.latency(src, dst, 100, true)};
           });
           bench.results.latencies.push_back(
               {Bench::name(src), Bench::name(dst), measured[0], measured[1]});
         }});
  }

  /// 2-D copies by column and pitch, with pitches of whole pages and others: copies are
  /// slower if all columns start at multiples of some KiB. With the host also on pages
  /// that were copied just before.
  void columns(int src, int dst) {
    const bool host = src == host_end || dst == host_end;
    const auto of_pitch = [&](size_t pitch) {
      for (const size_t kib : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64}) {
        if (kib << 10 >= pitch) continue;
        column(src, dst, kib << 10, pitch, forgotten);
        if (host) column(src, dst, kib << 10, pitch, 0);
      }
    };
    if (!host) return of_pitch(128 << 10);
    for (size_t mib = 4; mib <= 96; mib += mib < 48 ? 4 : 16)
      column(src, dst, 4 << 10, 128 << 10, mib * MiB);
    constexpr size_t off_border = size_t{13} * 64;
    for (const size_t kib : {16, 32, 48, 64, 128}) of_pitch(kib << 10);
    for (const size_t kib : {8, 16, 32, 48, 64, 96, 128, 256})
      of_pitch((kib << 10) + off_border);
    for (const size_t pitch :
         {size_t{48} << 10, size_t{128} << 10, (size_t{96} << 10) + off_border})
      for (const size_t kib : {4, 8, 16}) column_beside(src, dst, kib << 10, pitch);
  }

  /// The same on pages outside every cache, simultaneously with small kernels, which use
  /// the device's memory the most, and with the same copies in the other direction.
  void column_beside(int src, int dst, size_t bytes, size_t pitch) {
    bench_.tasks.push_back(
        {"2-D copies with kernels", [=, &bench = bench_](Stopwatch& watch) {
           constexpr size_t copied = strided_bytes / 2, copies = 16;
           constexpr int kernels = 150;  // of about 40 us: longer than the copies
           const size_t count = copied / bytes;
           KernelMeter meter{*bench.devices.front()};
           const auto beside = [&] {
             meter.touch(forgotten);
             meter.start({DType::f64, 1024, 1024, 1024}, kernels, 1);
             const double rate =
                 bench.flows.rates({{src, dst}, {dst, src}}, HostPages::spread,
                                   {bytes, count, pitch}, copies)[0];
             meter.wait(1);
             return rate;
           };
           const auto measured = watch.repeat([&] {
             const double packed = bench.flows.rates({{src, dst}}, HostPages::spread,
                                                     {copied, 1, copied}, copies)[0];
             return std::vector{packed, beside()};
           });
           bench.results.strided.push_back(
               {Bench::name(src), Bench::name(dst), double(bytes), double(count),
                double(pitch), double(forgotten), true, measured[1], measured[0]});
         }});
  }

  /// The device's cache keeps the addresses of host pages until kernels evict them. So
  /// the copies use different pages, and follow the same copies and a kernel that has
  /// read and written `between` bytes since.
  void column(int src, int dst, size_t bytes, size_t pitch, size_t between) {
    bench_.tasks.push_back(
        {"2-D copies", [=, &bench = bench_](Stopwatch& watch) {
           constexpr size_t copied = strided_bytes / 2, most = 24;
           const size_t count = copied / bytes;
           KernelMeter kernels{*bench.devices.front()};
           const auto rate = [&](const FlowMeter::Shape& shape) {
             const size_t places = bench.flows.places(HostPages::spread, shape);
             const auto copies = [&] {
               return bench.flows.rates({{src, dst}}, HostPages::spread, shape,
                                        std::clamp<size_t>(places, 1, most))[0];
             };
             if (between < forgotten) copies();
             if (between > 0) kernels.touch(between);
             return copies();
           };
           const auto measured = watch.repeat([&] {
             return std::vector{rate({bytes, count, pitch}), rate({copied, 1, copied})};
           });
           bench.results.strided.push_back(
               {Bench::name(src), Bench::name(dst), double(bytes), double(count),
                double(pitch), double(between), false, measured[0], measured[1]});
         }});
  }

  Bench& bench_;
};

}  // namespace

void add_transfer_tasks(Bench& bench) { Transfers{bench}.add(); }

}  // namespace tilerail::cuda
