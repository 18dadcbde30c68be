#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "calibration/measurements.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

/// One item of every kind, with distinct figures.
Measurements one_of_each() {
  Measurements m;
  m.machine = "small", m.date = "2001-02-03", m.command = "tilerail calibrate",
  m.host_bytes = 1e12;
  m.devices = {{"gpu0", 3, "Some GPU", 8e10, 132, 75.5, 700}};
  m.latencies = {{"host", "gpu0", {2e-6, 0.01, 5}, {9e-6, 0.02, 6}}};
  TransferRun run;
  run.kind = "both ways", run.pages = HostPages::plain, run.copy_bytes = 4194304,
  run.column_bytes = 8192;
  run.flows = {{"host", "gpu0", 2, {3e10, 0.03, 7}},
               {"gpu0", "host", 1, {2e10, 0.04, 8}}};
  run.total = {5e10, 0.005, 9};
  m.transfers = {run};
  m.strided = {
      {"gpu0", "host", 2048, 512, 131072, 3e7, true, {1e10, 0.06, 10}, {4e10, 0.07, 11}}};
  KernelRun kernel;
  kernel.gpu = "gpu0", kernel.dtype = DType::bf16, kernel.trans = "TN", kernel.m = 100,
  kernel.n = 200, kernel.k = 300;
  kernel.at_once = 4, kernel.alignment = 2, kernel.duty = 0.75,
  kernel.seconds = {1e-5, 0.08, 12}, kernel.watts = 432;
  kernel.watts_seconds = 0.625;
  kernel.issue = {7e-6, 0.11, 15};
  m.kernels = {kernel};
  kernel.at_once = 3;
  m.graph_kernels = {kernel};
  m.loads = {{"gpu0", DType::tf32, 4096, {{0.25, 1e-3}, {0.5, 2e-3}}}};
  m.memory = {{"gpu0", {3e12, 0.09, 13}}};
  m.issue = {{"gemm", 8, {5e-6, 0.1, 14}}};
  return m;
}

/// Files of an old version without this figure.
TEST(Measurements, WattsCanComeWithoutSeconds) {
  std::string json = to_json(one_of_each());
  const std::string with = ",\"watts_seconds\":0.625";
  ASSERT_NE(json.find(with), std::string::npos);
  json.erase(json.find(with), with.size());
  const KernelRun run = measurements_from_json(json, "m.json").kernels.at(0);
  EXPECT_EQ(run.watts, 432);
  EXPECT_EQ(run.watts_seconds, 0);
}

/// In older files too, kernels between copies used more than a cache.
TEST(Measurements, ColumnsCanRecordWhetherKernelsRan) {
  const std::string json = to_json(one_of_each()), with = "\"between_bytes\":30000000.0";
  ASSERT_NE(json.find(with), std::string::npos);
  for (const bool busy : {false, true}) {
    std::string older = json;
    older.replace(older.find(with), with.size(),
                  busy ? "\"busy\":true" : "\"busy\":false");
    const double between =
        measurements_from_json(older, "m.json").strided.at(0).between_bytes;
    EXPECT_EQ(between, busy ? fills_any_cache : 0);
  }
}

void expect_same(const SampleMean& a, const SampleMean& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.half_width, b.half_width);
  EXPECT_EQ(a.count, b.count);
}

TEST(Measurements, SurviveWritingAndReading) {
  const Measurements a = one_of_each(), b = measurements_from_json(to_json(a), "m.json");
  EXPECT_EQ(std::tie(a.machine, a.date, a.command, a.host_bytes),
            std::tie(b.machine, b.date, b.command, b.host_bytes));
  const auto of_device = [](const DeviceRecord& d) {
    return std::tie(d.name, d.number, d.model, d.memory_bytes, d.multiprocessors,
                    d.idle_watts, d.limit_watts);
  };
  EXPECT_EQ(of_device(a.devices.at(0)), of_device(b.devices.at(0)));
  const LatencyRun &la = a.latencies.at(0), &lb = b.latencies.at(0);
  EXPECT_EQ(std::tie(la.src, la.dst), std::tie(lb.src, lb.dst));
  expect_same(la.issued, lb.issued), expect_same(la.waited, lb.waited);
  const TransferRun &ta = a.transfers.at(0), &tb = b.transfers.at(0);
  EXPECT_EQ(std::tie(ta.kind, ta.pages, ta.copy_bytes, ta.column_bytes),
            std::tie(tb.kind, tb.pages, tb.copy_bytes, tb.column_bytes));
  expect_same(ta.total, tb.total);
  ASSERT_EQ(tb.flows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto &fa = ta.flows[i], &fb = tb.flows[i];
    EXPECT_EQ(std::tie(fa.src, fa.dst, fa.in_flight),
              std::tie(fb.src, fb.dst, fb.in_flight));
    expect_same(fa.rate, fb.rate);
  }
  const StridedRun &sa = a.strided.at(0), &sb = b.strided.at(0);
  EXPECT_EQ(std::tie(sa.src, sa.dst, sa.column_bytes, sa.columns, sa.pitch_bytes,
                     sa.between_bytes, sa.beside),
            std::tie(sb.src, sb.dst, sb.column_bytes, sb.columns, sb.pitch_bytes,
                     sb.between_bytes, sb.beside));
  expect_same(sa.strided, sb.strided), expect_same(sa.packed, sb.packed);
  const auto of_kernel = [](const KernelRun& k) {
    return std::tie(k.gpu, k.dtype, k.trans, k.m, k.n, k.k, k.at_once, k.alignment,
                    k.duty, k.watts, k.watts_seconds);
  };
  EXPECT_EQ(of_kernel(a.kernels.at(0)), of_kernel(b.kernels.at(0)));
  expect_same(a.kernels[0].seconds, b.kernels[0].seconds),
      expect_same(a.kernels[0].issue, b.kernels[0].issue);
  EXPECT_EQ(of_kernel(a.graph_kernels.at(0)), of_kernel(b.graph_kernels.at(0)));
  const LoadSeries &load = a.loads.at(0), &other = b.loads.at(0);
  EXPECT_EQ(std::tie(load.gpu, load.dtype, load.size),
            std::tie(other.gpu, other.dtype, other.size));
  ASSERT_EQ(load.points.size(), other.points.size());
  for (size_t i = 0; i < load.points.size(); ++i)
    EXPECT_EQ(std::tie(load.points[i].at, load.points[i].seconds),
              std::tie(other.points[i].at, other.points[i].seconds));
  EXPECT_EQ(a.memory.at(0).gpu, b.memory.at(0).gpu);
  expect_same(a.memory[0].rate, b.memory[0].rate);
  EXPECT_EQ(std::tie(a.issue.at(0).what, a.issue[0].threads),
            std::tie(b.issue.at(0).what, b.issue[0].threads));
  expect_same(a.issue[0].seconds, b.issue[0].seconds);
}

TEST(Measurements, HaveOneLinePerRun) {
  const std::string text = to_json(one_of_each());
  for (const char* line : {"\n  {\"name\":\"gpu0\"", "\n  {\"kind\":\"both ways\"",
                           "\n  {\"gpu\":\"gpu0\",\"dtype\"", "\n  {\"what\":\"gemm\""})
    EXPECT_THAT(text, ::testing::HasSubstr(line));
}

/// The JSON of one_of_each() with the first `find` replaced; the message contains the
/// place and the expectation.
struct BadJson {
  std::string name, find, replace;
  std::vector<std::string> words;
};
void PrintTo(const BadJson& bad, std::ostream* out) { *out << bad.name; }

class BadMeasurements : public ::testing::TestWithParam<BadJson> {};

TEST_P(BadMeasurements, AreRefusedWithPlaceValueAndExpectation) {
  std::string text = to_json(one_of_each());
  const auto found = text.find(GetParam().find);
  ASSERT_NE(found, std::string::npos) << GetParam().find;
  text.replace(found, GetParam().find.size(), GetParam().replace);
  EXPECT_THAT([&] { measurements_from_json(text, "m.json"); },
              ::testing::ThrowsMessage<InputError>(::testing::AllOf(
                  ::testing::StartsWith("m.json:"), mentions(GetParam().words))));
}

INSTANTIATE_TEST_SUITE_P(
    Calibration, BadMeasurements,
    ::testing::Values(
        BadJson{"NotJson", "{\"schema\"", "{schema", {"not JSON"}},
        BadJson{"Schema",
                "\"schema\":1",
                "\"schema\":2",
                {"/schema: '2'", "an integer from 1 to 1"}},
        BadJson{"UnknownRootKey",
                "\"schema\":1",
                "\"schema\":1,\"version\":1",
                {"/version: unknown field"}},
        BadJson{"MissingKey", "\"machine\":\"small\",", "", {"/machine: is missing"}},
        BadJson{"Text",
                "\"machine\":\"small\"",
                "\"machine\":7",
                {"/machine: '7'", "a string"}},
        BadJson{"HostBytes",
                "\"host_bytes\":1000000000000.0",
                "\"host_bytes\":0",
                {"/host_bytes: '0'", "above 0"}},
        BadJson{"DeviceKey",
                "\"number\":3",
                "\"nummer\":3",
                {"/devices/0/number: is missing"}},
        BadJson{"DeviceNumber",
                "\"number\":3",
                "\"number\":-1",
                {"/devices/0/number: '-1'", "0 to 1023"}},
        BadJson{"DeviceMemory",
                "\"memory_bytes\":80000000000.0",
                "\"memory_bytes\":-2",
                {"/devices/0/memory_bytes: '-2'", "above 0"}},
        BadJson{"Multiprocessors",
                "\"multiprocessors\":132",
                "\"multiprocessors\":0",
                {"/devices/0/multiprocessors: '0'", "1 to"}},
        BadJson{"Latency",
                "\"issued\":[2e-06,0.01,5]",
                "\"issued\":[0,0.01,5]",
                {"/latencies/0/issued/0: '0'", "above 0"}},
        BadJson{"MeasuredLength",
                "\"issued\":[2e-06,0.01,5]",
                "\"issued\":[2e-06,0.01]",
                {"/latencies/0/issued", "an array of 3"}},
        BadJson{"MeasuredWidth",
                "\"issued\":[2e-06,0.01,5]",
                "\"issued\":[2e-06,null,5]",
                {"/latencies/0/issued/1: 'null'", "a finite number"}},
        BadJson{"MeasuredCount",
                "\"issued\":[2e-06,0.01,5]",
                "\"issued\":[2e-06,0.01,0]",
                {"/latencies/0/issued/2: '0'", "an integer from 1"}},
        BadJson{"Pages",
                "\"pages\":\"plain\"",
                "\"pages\":\"huge\"",
                {"/transfers/0/pages: '\"huge\"'", "one of spread plain"}},
        BadJson{"CopyBytes",
                "\"copy_bytes\":4194304.0",
                "\"copy_bytes\":0",
                {"/transfers/0/copy_bytes: '0'", "above 0"}},
        BadJson{"ColumnBytes",
                "\"column_bytes\":8192.0",
                "\"column_bytes\":-1",
                {"/transfers/0/column_bytes: '-1'", "at least 0"}},
        BadJson{"FlowLength",
                "[\"host\",\"gpu0\",2,",
                "[\"host\",2,",
                {"/transfers/0/flows/0", "an array of 4"}},
        BadJson{"InFlight",
                "[\"host\",\"gpu0\",2,",
                "[\"host\",\"gpu0\",0,",
                {"/transfers/0/flows/0/2: '0'", "an integer from 1 to 1024"}},
        BadJson{"StridedColumn",
                "\"column_bytes\":2048.0",
                "\"column_bytes\":0",
                {"/strided/0/column_bytes: '0'", "above 0"}},
        BadJson{"StridedColumns",
                "\"columns\":512.0",
                "\"columns\":\"many\"",
                {"/strided/0/columns: '\"many\"'", "a finite number"}},
        BadJson{"StridedPitch",
                "\"pitch_bytes\":131072.0",
                "\"pitch_bytes\":0",
                {"/strided/0/pitch_bytes: '0'", "above 0"}},
        BadJson{"StridedBetween",
                "\"between_bytes\":30000000.0",
                "\"between_bytes\":-1",
                {"/strided/0/between_bytes: '-1'", "at least 0"}},
        BadJson{"KernelType", "\"bf16\"", "\"f8\"", {"/kernels/0/dtype", "f8"}},
        BadJson{"KernelTrans",
                "\"trans\":\"TN\"",
                "\"trans\":\"TX\"",
                {"/kernels/0/trans: '\"TX\"'", "each N or T"}},
        BadJson{"KernelTransLength",
                "\"trans\":\"TN\"",
                "\"trans\":\"T\"",
                {"/kernels/0/trans: '\"T\"'", "two letters"}},
        BadJson{"KernelSize",
                "\"size\":[100,200,300]",
                "\"size\":[100,200]",
                {"/kernels/0/size", "an array of 3"}},
        BadJson{"KernelExtent",
                "\"size\":[100,200,300]",
                "\"size\":[100,-1,300]",
                {"/kernels/0/size/1: '-1'", "1 to"}},
        BadJson{"NoKernel",
                "\"size\":[100,200,300]",
                "\"size\":[0,200,300]",
                {"/kernels/0/size/0: '0'", "1 to"}},
        BadJson{"AtOnce",
                "\"at_once\":4",
                "\"at_once\":0",
                {"/kernels/0/at_once: '0'", "1 to 1024"}},
        BadJson{"Alignment",
                "\"alignment\":2",
                "\"alignment\":-2",
                {"/kernels/0/alignment: '-2'", "0 to 4096"}},
        BadJson{"Duty",
                "\"duty\":0.75",
                "\"duty\":1.5",
                {"/kernels/0/duty: '1.5'", "a number from 0 to 1"}},
        BadJson{"Watts",
                "\"watts\":432.0",
                "\"watts\":\"hot\"",
                {"/kernels/0/watts: '\"hot\"'", "a finite number"}},
        BadJson{"MemoryRate",
                "\"rate\":[3000000000000.0",
                "\"rate\":[-1",
                {"/memory/0/rate/0: '-1'", "above 0"}},
        BadJson{"IssueThreads",
                "\"threads\":8",
                "\"threads\":0",
                {"/issue/0/threads: '0'", "1 to 1024"}},
        BadJson{"IssueKey",
                "\"what\":\"gemm\"",
                "\"was\":\"gemm\"",
                {"/issue/0/what: is missing"}}),
    [](const auto& param) { return param.param.name; });

TEST(Measurements, WithoutADeviceOrAFlowAreRefused) {
  Measurements m = one_of_each();
  m.transfers[0].flows.clear();
  expect_input_error([&] { measurements_from_json(to_json(m), "m.json"); },
                     {"m.json: /transfers/0/flows: '[]'", "at least one"});
  m = one_of_each();
  m.devices.clear();
  expect_input_error([&] { measurements_from_json(to_json(m), "m.json"); },
                     {"m.json: /devices: '[]'", "at least one"});
}

}  // namespace
}  // namespace tilerail
