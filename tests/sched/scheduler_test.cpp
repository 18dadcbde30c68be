#include "sched/scheduler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "model/machine/topology_toml.hpp"
#include "plan/validate.hpp"
#include "sched/emulation/presets.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

TEST_F(OnTwoGpu, EagerFetchesCBeforeTheFirstKernel) {
  GemmProblem p = cube(256);
  p.k = 512;
  p.beta = 2;
  // One tile of C, two k: A_0, B_0, C_in, kernel (beta 2), A_1, B_1, kernel (beta 1),
  // write-back.
  EXPECT_EQ(
      words(plan(p, policy("gemmex", {"tile=256", "c-tiles=eager", "order=fifo"}))),
      (std::vector<std::string>{"host>gpu0", "host>gpu0", "host>gpu0", "gemm@gpu0 b",
                                "host>gpu0", "host>gpu0", "gemm@gpu0 b1", "gpu0>host"}));
}

TEST_F(OnTwoGpu, LazyFetchesCAfterTheLastKernelAndAddsIt) {
  GemmProblem p = cube(256);
  p.k = 512;
  const Plan lazy = plan(p, policy("gemmex", {"tile=256", "c-tiles=lazy"}));
  EXPECT_EQ(words(lazy),
            (std::vector<std::string>{"host>gpu0", "host>gpu0", "gemm@gpu0 b0",
                                      "host>gpu0", "host>gpu0", "gemm@gpu0 b1",
                                      "host>gpu0", "axpby@gpu0", "gpu0>host"}));
  const Op& add = lazy.ops[7];  // C' = beta C_in + C'
  EXPECT_EQ(add.alpha, Scalar::beta);
  EXPECT_EQ(add.beta, Scalar::one);
}

TEST_F(OnTwoGpu, AutoIsLazyOnlyIfCSharesItsHomeWithAOrB) {
  GemmProblem p = cube(256);
  EXPECT_EQ(count(plan(p, policy("gemmex")), OpKind::axpby), 1);
  p.place_c = gpu1;
  EXPECT_EQ(count(plan(p, policy("gemmex")), OpKind::axpby), 0);
}

TEST_F(OnTwoGpu, BetaZeroNeverFetchesC) {
  GemmProblem p = cube(256);
  p.beta = 0;
  for (const char* c : {"c-tiles=eager", "c-tiles=lazy"})
    EXPECT_EQ(words(plan(p, policy("gemmex", {c}))),
              (std::vector<std::string>{"host>gpu0", "host>gpu0", "gemm@gpu0 b0",
                                        "gpu0>host"}));
}

TEST_F(OnTwoGpu, MatricesOnTheDeviceAreUsedInPlace) {
  GemmProblem p = cube(512);
  p.place_a = p.place_b = p.place_c = gpu0;
  const Plan local = plan(p, policy("tilerail", {"tile=256"}));
  EXPECT_EQ(count(local, OpKind::copy), 0);
  EXPECT_EQ(count(local, OpKind::gemm), 8);
  EXPECT_EQ(local.peak_bytes[gpu0.index()], 0);
}

TEST_F(OnTwoGpu, TilesAreFetchedOnceWithCachingAndEveryTimeWithout) {
  const GemmProblem p =
      cube(1024);  // 4 x 4 x 4 tiles: 64 kernels, 16 tiles each of A, B and C
  EXPECT_DOUBLE_EQ(moved(plan(p, policy("gemmex", {"tile=256"})), host, gpu0),
                   3 * 8.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(
      moved(plan(p, policy("gemmex", {"tile=256", "caching=off"})), host, gpu0),
      (64 + 64 + 16) * 8.0 * 256 * 256);
}

TEST_F(OnTwoGpu, BatchSendsEachSharedTileOverTheUplinkOnce) {
  const GemmProblem p = cube(1024);
  const double matrix = 8.0 * 1024 * 1024;
  for (const char* batch : {"batch=chain", "batch=tree"})
    for (const char* routing : {"routing=eta", "routing=link-eta"}) {
      const Plan batched =
          plan(p, policy("gemmex", {"tile=256", routing, batch}), {gpu0, gpu1});
      EXPECT_DOUBLE_EQ(moved(batched, host, gpu0) + moved(batched, host, gpu1),
                       3 * matrix)
          << batch << routing;
      EXPECT_DOUBLE_EQ(moved(batched, gpu0, gpu1) + moved(batched, gpu1, gpu0),
                       matrix);  // A: both share the rows
    }
  const Plan alone = plan(
      p, policy("gemmex", {"tile=256", "routing=initial", "batch=off"}), {gpu0, gpu1});
  EXPECT_DOUBLE_EQ(moved(alone, host, gpu0) + moved(alone, host, gpu1), 4 * matrix);
}

TEST_F(OnTwoGpu, ABatchIsCopiesInPiecesThatFollowEachOther) {
  GemmProblem p = cube(256);
  p.n = 512;
  for (const char* batch :
       {"batch=chain(chunks=4,min-bytes=0)", "batch=tree(chunks=4,min-bytes=0)"}) {
    const Plan batched =
        plan(p, policy("gemmex", {"tile=256", batch, "order=fifo"}), {gpu0, gpu1});
    // A goes host -> gpu0 in operations 0..3 and gpu0 -> gpu1 in 4..7; piece j of the
    // second hop depends on piece j.
    for (int j = 0; j < 4; ++j) {
      EXPECT_THAT(batched.deps_of(OpId{4 + j}), ::testing::ElementsAre(OpId{j})) << batch;
      EXPECT_EQ(batched.result(batched.ops[size_t(4 + j)]).cols, 64) << batch;
    }
  }
}

/// Bytes between the GPUs of the two sockets of summit-node, with matrices on both
/// sockets.
double moved_between_sockets(const char* batch) {
  const Topology machine = shipped("summit-node");
  GemmProblem p = cube(8192);
  p.place_a = p.place_b = p.place_c = machine.find_memory("h*").value();
  const std::vector<MemoryId> gpus = machine.gpus();
  const Plan plan = plan_gemm(p, machine, gpus,
                              policy("tilerail", {"tile=1024", "effort=fast", batch}));
  double sum = 0;
  for (size_t i = 0; i < gpus.size(); ++i)
    for (size_t j = 0; j < gpus.size(); ++j)
      if (i / 3 != j / 3) sum += moved(plan, gpus[i], gpus[j]);
  return sum;
}

TEST(Batch, AsATreeLeavesScarceLinksAlone) {
  EXPECT_LT(moved_between_sockets("batch=tree"),
            0.2 * moved_between_sockets("batch=chain"));
}

TEST_F(OnTwoGpu, StagedCopiesAreNotBatched) {
  const auto staged = [&](const char* batch) {
    return words(plan(cube(1024),
                      policy("gemmex", {"tile=256", "peer-copies=staged", batch}),
                      {gpu0, gpu1}));
  };
  EXPECT_EQ(staged("batch=chain"), staged("batch=off"));
  EXPECT_EQ(staged("batch=tree"), staged("batch=off"));
}

TEST_F(OnTwoGpu, WithoutOverlapADeviceRunsOneOperationAfterAnother) {
  const Plan serial = plan(cube(512), policy("baseline", {"tile=256"}));
  for (size_t i = 1; i < serial.ops.size(); ++i) {
    if (serial.ops[i].queue == serial.ops[i - 1].queue) continue;
    EXPECT_THAT(serial.deps_of(OpId{i}), ::testing::Contains(OpId{i - 1})) << i;
  }
}

TEST_F(OnTwoGpu, AProblemWithoutWorkHasAnEmptyPlan) {
  GemmProblem p = cube(256);
  p.m = 0;
  EXPECT_TRUE(plan(p, policy("tilerail")).ops.empty());
  p = cube(256);
  p.alpha = 0;
  EXPECT_TRUE(plan(p, policy("tilerail")).ops.empty());  // beta = 1: C does not change
}

TEST(ProblemsWithoutWork, HaveAnEmptyPlanOnGpusOfDifferentSpeed) {
  const Topology machine = shipped("cocopelia-testbed-2");
  GemmProblem p = cube(256);
  p.m = 0;
  EXPECT_TRUE(plan_gemm(p, machine, machine.gpus(), policy("tilerail")).ops.empty());
}

TEST_F(OnTwoGpu, AProblemWithoutAProductOnlyScales) {
  GemmProblem p = cube(256);
  p.k = 0;
  p.beta = 3;
  EXPECT_EQ(words(plan(p, policy("tilerail"))),
            (std::vector<std::string>{"host>gpu0", "axpby@gpu0", "gpu0>host"}));
  p.beta = 0;  // zeros are written, nothing is read
  EXPECT_EQ(words(plan(p, policy("tilerail"))),
            (std::vector<std::string>{"axpby@gpu0", "gpu0>host"}));
}

/// f64 needs 3 x 800 MB at side 10000; two-gpu's GPUs have 1 GB.
TEST_F(OnTwoGpu, TilesOfProblemsBeyondMemoryAreEvicted) {
  const GemmProblem p = cube(10000);
  const Plan evicted = plan(p, policy("tilerail", {"tile=1000"}));
  EXPECT_LE(double(evicted.peak_bytes[gpu0.index()]), 1e9);
  EXPECT_NO_THROW(validate(evicted, machine));
  // Eviction uses future accesses: with 112 slots of 8 MB, C stays in blocks of mb x nb
  // tiles while k runs, mb nb + 2 (mb + nb) + 2 <= 112, so 8 x 8 on this 10 x 10 grid of
  // tiles, at best 10 x 7: A and B enter at most 2 x 10 x 10 times a tile each.
  EXPECT_LE(moved(evicted, host, gpu0), (2 * 100 + 2 * 100 + 100) * 8e6);
}

TEST_F(OnTwoGpu, TheSameInputsGiveTheSameBytes) {
  for (const std::string& name : any_preset_names()) {
    const std::string once = to_json(plan(cube(2000), any_preset(name), {gpu0, gpu1}));
    EXPECT_EQ(once, to_json(plan(cube(2000), any_preset(name), {gpu0, gpu1})));
  }
}

TEST_F(OnTwoGpu, BadDevicesAndPlacesAreNamed) {
  expect_error([&] { plan(cube(10), policy("gemmex"), {}); }, {.subject = "devices"});
  expect_error(
      [&] {
        plan(cube(10), policy("gemmex"), {gpu0, gpu0});
      },
      {.subject = "devices", .value = "gpu0", .expected = "it once"});
  expect_error([&] { plan(cube(10), policy("gemmex"), {host}); },
               {.subject = "devices", .value = "memory 0"});
  GemmProblem p = cube(10);
  p.place_b = MemoryId{9};
  expect_error([&] { plan(p, policy("gemmex")); },
               {.subject = "place", .value = "memory 9"});
  p = cube(20000);
  p.place_a = gpu0;  // 3.2 GB
  expect_input_error([&] { plan(p, policy("gemmex")); }, {"gpu0", "3.2", "1.0"});
  expect_input_error([&] { plan(cube(20000), policy("gemmex", {"tile=8000"})); },
                     {"8000", "512000000", "gpu0"});
}

TEST_F(OnTwoGpu, MatricesMustFitInMemoriesWithoutKernels) {
  // 10^4 x 10^4 doubles: 0.8 GB. Two of them are on gpu1, which has 1 GB, while gpu0
  // computes; three on a host of 2 GB.
  GemmProblem p = cube(10000);
  p.place_a = p.place_c = gpu1;
  expect_input_error([&] { plan(p, policy("tilerail"), {gpu0}); },
                     {"place", "gpu1", "1.600 GB", "1.000 GB"});
  Topology::Description d = machine.description();
  d.memories[host.index()].capacity = Bytes{2e9};
  const Topology small{std::move(d)};
  expect_input_error(
      [&] {
        plan_gemm(cube(10000), small, {&gpu0, 1}, policy("tilerail"));
      },
      {"place", "host", "2.400 GB", "2.000 GB"});
}

/// two-gpu with `count` GPUs behind its switch.
Topology with_gpus(int count) {
  Topology::Description d = shipped("two-gpu").description();
  for (int i = 2; i < count; ++i) {
    Memory gpu = d.memories[1];
    gpu.name = "gpu" + std::to_string(i), gpu.processor->device = i,
    gpu.vertex = VertexId{d.vertices.size()};
    d.vertices.push_back({gpu.name, VertexKind::gpu, gpu.source});
    d.memories.push_back(gpu);
    Link down = d.links[2], up = d.links[3];  // pcie0 -> gpu0 and back
    EXPECT_EQ(d.vertices[down.from.index()].name, "pcie0");
    down.to = up.from = gpu.vertex;
    down.name = up.name = "";
    d.links.push_back(down), d.links.push_back(up);
  }
  return Topology{d};
}

TEST(Scheduler, PlansForSixtyFourGpus) {
  const Topology machine = with_gpus(64);
  const Plan plan =
      plan_gemm(cube(4096), machine, machine.gpus(), policy("tilerail", {"tile=256"}));
  EXPECT_NO_THROW(validate(plan, machine));
  EXPECT_EQ(count(plan, OpKind::gemm), 16 * 16 * 16);
}

// 4,097 memories make 16.8 million pairs: only pairs used by copies may cost time or
// memory.
TEST(Scheduler, PlansForTheMostGpus) {
  const Topology machine = with_gpus(4096);
  GemmProblem problem;
  problem.m = problem.n = 64 * 256, problem.k = 256;
  const Plan plan =
      plan_gemm(problem, machine, machine.gpus(), policy("baseline", {"tile=256"}));
  EXPECT_NO_THROW(validate(plan, machine));
  EXPECT_EQ(plan.devices.size(), 4096U);
  EXPECT_EQ(count(plan, OpKind::gemm), 64 * 64);
  expect_error(
      [&] {
        plan_gemm(problem, machine, machine.gpus(), policy("paralia", {"tile=256"}));
      },
      {.expected = "at most 1024 for routing=link-map and devices=best"});
}

// If the route over another GPU is faster, but the machine is too large for a link map,
// tiles go directly.
TEST(Scheduler, PlansWithoutRelaysOnMachinesWithoutALinkMap) {
  const auto with_fast_links = [](int gpus) {
    Topology::Description d = with_gpus(gpus).description();
    for (const auto& [from, to] : {std::pair{"gpu0", "gpu2"}, {"gpu2", "gpu3"}}) {
      const auto vertex = [&](std::string_view name) {
        return VertexId{size_t(std::ranges::find(d.vertices, name, &Vertex::name) -
                               d.vertices.begin())};
      };
      Link link = d.links[2];
      link.from = vertex(from), link.to = vertex(to), link.name = "",
      link.bandwidth = Rate{500e9};
      d.links.push_back(link);
    }
    return Topology{d};
  };
  GemmProblem problem = cube(1024);
  problem.place_a = MemoryId{1};
  const auto gpus = [](const Topology& machine) {
    return std::span{machine.gpus()}.first(4);
  };
  const auto tried = [&](const Topology& machine, std::string_view preset) {
    return plan_gemm(problem, machine, gpus(machine),
                     policy(preset, {"tile=512", "devices=all"}))
        .origin.candidates;
  };
  EXPECT_EQ(tried(with_fast_links(4), "tilerail").size(), 2U);
  const Topology large = with_fast_links(1100);
  EXPECT_EQ(tried(large, "tilerail").size(), 1U);
  expect_input_error(
      [&] { plan_gemm(problem, large, gpus(large), policy("gemmex", {"devices=best"})); },
      {"memories: '1101' are too many", "at most 1024", "devices=best"});
}

TEST(Scheduler, ColumnsOfTilesBeginAtMultiplesOf64Bytes) {
  GemmProblem problem;
  problem.m = 777, problem.n = 333, problem.k = 501;
  const Topology machine = shipped("hgx-h200");
  for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
    problem.dtype = dtype;
    Policy policy = any_preset("tilerail");
    policy.choices.tile = 250;
    const Plan plan = plan_gemm(problem, machine, {machine.gpus().data(), 2}, policy);
    int tiles = 0;
    for (const Buffer& buffer : plan.buffers) {
      if (!buffer.in_arena || buffer.rows * buffer.element() <= 64) continue;
      ++tiles;
      EXPECT_EQ(buffer.ld * buffer.element() % 64, 0) << buffer.rows;
      EXPECT_LT(buffer.ld - buffer.rows, 64 / buffer.element()) << buffer.rows;
    }
    EXPECT_GT(tiles, 10);
  }
}

TEST(Scheduler, ComputeStreamsJustFillAGpu) {
  // 132 multiprocessors, blocks of 128 x 128: a tile of 512 has 16 blocks, a tile of 2048
  // has 256.
  const Topology machine = shipped("hgx-h200");
  const KernelTimes& kernels = machine.kernels_of(machine.gpus()[0]);
  for (const int64_t tile : {256, 512, 2048}) {
    GemmProblem problem;
    problem.m = problem.n = problem.k = 8 * tile;
    Policy policy = any_preset("tilerail");
    policy.choices.tile = tile;
    const Plan plan = plan_gemm(problem, machine, {machine.gpus().data(), 1}, policy);
    const auto streams =
        std::count_if(plan.queues.begin(), plan.queues.end(),
                      [](const Queue& q) { return q.kind == Queue::Kind::compute; });
    EXPECT_EQ(streams, std::min(8.0, std::ceil(1 / kernels.occupancy(tile, tile))))
        << tile;
  }
}

TEST(Scheduler, ChunksAreNeverSmallerThanTheMinimumOfThePolicy) {
  const Topology machine = shipped("hgx-h200");
  GemmProblem problem;
  problem.m = problem.n = problem.k = 4096;
  for (const int64_t least : {int64_t{1} << 20, int64_t{8} << 20}) {
    Policy policy = any_preset("tilerail");
    policy.choices.tile = 2048,
    policy.choices.batch_min_bytes = least;  // 32 MiB per tile
    const Plan plan = plan_gemm(problem, machine, {machine.gpus().data(), 4}, policy);
    double smallest = 1e18;
    for (const Op& op : plan.ops)
      if (op.kind == OpKind::copy)
        smallest = std::min(smallest, copy_bytes(plan, op).value);
    EXPECT_EQ(smallest, std::max<double>(4 << 20, double(least)));  // at most 8 chunks
  }
}

}  // namespace
}  // namespace tilerail::testing
