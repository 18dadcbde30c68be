#include "report/timeline/timeline_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "model/base/error.hpp"
#include "tests/support/sample_timeline.hpp"

namespace tilerail {
namespace {

using test::sample_timeline;

/// The message of the InputError from reading.
std::string error_of(const std::string& csv) {
  try {
    timeline_from_csv(csv, "t.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Two operations, so changes are visible: lines 1 to 11 metadata, 12 header, 13 and 14
/// rows.
std::string small_csv() {
  return "# schema=1\n# version=0.1.0\n# plan_hash=0123456789abcdef\n# machine=m\n# "
         "policy=p+a=b\n# problem=gemm m=1\n"
         "# tile=64\n# backend=sim\n# devices=gpu0;gpu1\n# hosts=host\n# ops=2\n"
         "op,kind,queue,device,src,dst,bytes,flops,route,label,ready_s,start_s,end_s\n"
         "0,copy,host->gpu0,gpu0,host,gpu0,512,0,host->gpu0,\"A[0:8,0:8]\",0,0,0.5\n"
         "1,gemm,gpu0 compute 0,gpu0,gpu0,gpu0,0,1024,,\"C[0:8,0:8]\",0.5,0.625,0.75\n";
}

TEST(TimelineCsv, SurvivesWritingAndReadingExactly) {
  const AnnotatedTimeline timeline = sample_timeline();
  const std::string csv = to_csv(timeline);
  EXPECT_TRUE(timeline_from_csv(csv, "t.csv") == timeline);
  EXPECT_EQ(to_csv(timeline_from_csv(csv, "t.csv")), csv);
}

TEST(TimelineCsv, WritesOneRowPerOperationInPlainText) {
  const std::string csv = to_csv(timeline_from_csv(small_csv(), "t.csv"));
  EXPECT_EQ(csv, small_csv());
}

TEST(TimelineCsv, AnIntervalIsTwoNumbers) {
  const auto with = [](const std::string& value) {
    return replaced(small_csv(), "# ops=", "# interval_s=" + value + "\n# ops=");
  };
  const AnnotatedTimeline timeline = timeline_from_csv(with("0.5;1.5"), "t.csv");
  EXPECT_EQ(timeline.metadata.interval, (PredictedInterval{0.5, 1.5}));
  EXPECT_EQ(to_csv(timeline), with("0.5;1.5"));
  EXPECT_THAT(error_of(with("0.5")),
              ::testing::HasSubstr("t.csv:11:14: interval_s: '0.5' is not two numbers"));
  EXPECT_THAT(error_of(with("2;1")),
              ::testing::HasSubstr("is not a low end and a higher one"));
  EXPECT_THAT(error_of(with("a;1")), ::testing::HasSubstr("interval_s: 'a'"));
}

TEST(TimelineCsv, LinesCanEndAsOnWindows) {
  std::string csv = small_csv();
  for (size_t at = 0; (at = csv.find('\n', at)) != std::string::npos; at += 2)
    csv.insert(at, 1, '\r');
  EXPECT_EQ(to_csv(timeline_from_csv(csv, "t.csv")), small_csv());
}

TEST(TimelineCsv, ReadsMetadataAndColumns) {
  const AnnotatedTimeline timeline = timeline_from_csv(small_csv(), "t.csv");
  EXPECT_EQ(timeline.metadata.policy, "p+a=b");  // only the first '=' separates
  EXPECT_EQ(timeline.metadata.devices, (std::vector<std::string>{"gpu0", "gpu1"}));
  ASSERT_EQ(timeline.ops.size(), 2u);
  EXPECT_EQ(timeline.ops[1].kind, OpKind::gemm);
  EXPECT_EQ(timeline.ops[1].flops, 1024);
  EXPECT_EQ(timeline.ops[1].ready, 0.5);
  EXPECT_EQ(timeline.ops[1].start, 0.625);
  EXPECT_EQ(timeline.ops[1].end, 0.75);
  EXPECT_EQ(timeline.label_of(timeline.ops[0]), "A[0:8,0:8]");
  EXPECT_EQ(timeline.queue_of(timeline.ops[0]).route, "host->gpu0");
}

TEST(TimelineCsv, KnownEnergiesAreKept) {
  AnnotatedTimeline timeline = sample_timeline(test::powered_machine());
  ASSERT_EQ(timeline.metadata.energy_j.size(), 2u);
  timeline.metadata.counted_energy_j = {12.5, 1e-3};
  const std::string csv = to_csv(timeline);
  EXPECT_THAT(csv, ::testing::HasSubstr("\n# counted_energy_j=12.5;0.001\n"));
  EXPECT_TRUE(timeline_from_csv(csv, "t.csv") == timeline);
  EXPECT_THAT(to_csv(sample_timeline()), ::testing::Not(::testing::HasSubstr("energy")));
}

TEST(TimelineCsv, EachDeviceHasAnEnergy) {
  const auto with = [](const std::string& line) {
    return replaced(small_csv(), "# ops=2", line + "\n# ops=2");
  };
  EXPECT_EQ(timeline_from_csv(with("# energy_j=1.5;2"), "t.csv").metadata.energy_j,
            (std::vector<double>{1.5, 2}));
  EXPECT_EQ(error_of(with("# energy_j=1.5")),
            "t.csv:11:12: energy_j: '1.5' is not a number for each of 2 devices");
  EXPECT_EQ(error_of(with("# energy_j=")),
            "t.csv:11:12: energy_j: '' is not a number for each of 2 devices");
  EXPECT_THAT(error_of(with("# counted_energy_j=1.5;hot")),
              ::testing::HasSubstr("t.csv:11:20: counted_energy_j: 'hot'"));
  EXPECT_THAT(error_of(with("# energy_j=1;-2")),
              ::testing::HasSubstr("t.csv:11:12: energy_j: '-2'"));
}

TEST(TimelineCsv, RowsCanComeInAnyOrder) {
  std::string csv = small_csv();
  const size_t second = csv.find("\n0,copy") + 1, third = csv.find("\n1,gemm") + 1;
  const std::string shuffled =
      csv.substr(0, second) + csv.substr(third) + csv.substr(second, third - second);
  const AnnotatedTimeline timeline = timeline_from_csv(shuffled, "t.csv");
  EXPECT_EQ(timeline.ops[0].kind, OpKind::copy);
  EXPECT_EQ(timeline.ops[1].kind, OpKind::gemm);
  EXPECT_EQ(to_csv(timeline), csv);
}

TEST(TimelineCsv, QuotesCellsWithCommasAndQuotes) {
  AnnotatedTimeline timeline = timeline_from_csv(small_csv(), "t.csv");
  timeline.queues[0].name = "a \"b\", c";
  EXPECT_TRUE(timeline_from_csv(to_csv(timeline), "t.csv") == timeline);
}

TEST(TimelineCsv, RefusesToWriteControlCharacters) {
  AnnotatedTimeline timeline = timeline_from_csv(small_csv(), "t.csv");
  timeline.metadata.machine = "a\nb";
  EXPECT_THROW(to_csv(timeline), InputError);
  timeline.metadata.machine = "m";
  timeline.queues[0].name = "a\tb";
  EXPECT_THROW(to_csv(timeline), InputError);
}

TEST(TimelineCsv, AnEmptyPlanHasAnEmptyTimeline) {
  std::string csv = replaced(small_csv(), "# ops=2", "# ops=0");
  csv.resize(csv.find("\n0,copy") + 1);
  EXPECT_TRUE(timeline_from_csv(csv, "t.csv").ops.empty());
  EXPECT_EQ(to_csv(timeline_from_csv(csv, "t.csv")), csv);
}

struct BadCase {
  const char* name;
  const char* from;
  const char* to;
  const char* message;  // its beginning
};

void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.name; }

TEST(TimelineCsv, OtherFilesAreRefusedAsTimelines) {
  for (const char* other : {"{\"schema\": 2}", "m,n,k\n64,64,64\n"})
    EXPECT_EQ(error_of(other),
              "t.csv: this is not a timeline; expected '# schema=1' in its first line");
}

class BadTimelineCsv : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadTimelineCsv, IsRefusedWithItsPlace) {
  const std::string message =
      error_of(replaced(small_csv(), GetParam().from, GetParam().to));
  EXPECT_EQ(message.substr(0, std::string{GetParam().message}.size()),
            GetParam().message);
}

// Columns count characters. In line 14, `1,gemm,gpu0 compute
// 0,gpu0,gpu0,gpu0,0,1024,,"C[0:8,0:8]",0.5,0.625,0.75`, kind starts at 3, queue at 8,
// device at 23, flops at 40, label at 46, ready_s at 59, start_s at 63, end_s at 69.
INSTANTIATE_TEST_SUITE_P(
    All, BadTimelineCsv,
    ::testing::Values(
        BadCase{"MissingMetadata", "# plan_hash=0123456789abcdef\n", "",
                "t.csv:11:1: no '# plan_hash=' before"},
        BadCase{"MissingOps", "# ops=2\n", "", "t.csv:11:1: no '# ops=' before"},
        BadCase{"UnknownMetadata", "# tile=64", "# tiles=64",
                "t.csv:7:3: unknown key 'tiles'; expected one of: schema,"},
        BadCase{"DoubledMetadata", "# tile=64", "# machine=n",
                "t.csv:7:3: 'machine' is given twice"},
        BadCase{"MetadataWithoutValue", "# tile=64", "# tile",
                "t.csv:7:1: expected '# key=value'"},
        BadCase{"OtherSchema", "# schema=1", "# schema=2",
                "t.csv:1:10: schema: '2' is not 1"},
        BadCase{"BadTile", "# tile=64", "# tile=-64",
                "t.csv:7:8: tile: '-64' is not a whole number from 0"},
        BadCase{"OtherColumns", "flops,route", "route,flops",
                "t.csv:12:1: other columns than expected: op,kind,"},
        BadCase{"FewerCells", "0,copy,host->gpu0,", "0,copy,",
                "t.csv:13:1: 12 columns; expected 13"},
        BadCase{"MoreCells", "0,copy,", "0,copy,,",
                "t.csv:13:1: 14 columns; expected 13"},
        BadCase{"EmptyLine", "\n1,gemm", "\n\n1,gemm",
                "t.csv:14:1: 1 columns; expected 13"},
        BadCase{"UnknownKind", "1,gemm", "1,laswp",
                "t.csv:14:3: kind: 'laswp' is not one of: copy, gemm, axpby, join, "
                "potrf, trsm, syrk, geqrt, ormqr, tsqrt, tsmqr"},
        BadCase{"EmptyQueue", "host->gpu0,gpu0", ",gpu0",
                "t.csv:13:8: queue: '' is not a name"},
        BadCase{"BytesNotANumber", ",512,", ",512B,",
                "t.csv:13:34: bytes: '512B' is not a whole number from 0 to 9"},
        BadCase{"NegativeBytes", ",512,", ",-1,",
                "t.csv:13:34: bytes: '-1' is not a whole number"},
        BadCase{"HugeBytes", ",512,", ",99999999999999999999,",
                "t.csv:13:34: bytes: '99999999999999999999' is not"},
        BadCase{"FlopsNan", ",1024,", ",nan,",
                "t.csv:14:40: flops: 'nan' is not a number from 0 to 1e+30"},
        BadCase{"TimeNan", ",0.75\n", ",nan\n",
                "t.csv:14:69: end_s: 'nan' is not a number from 0 to"},
        BadCase{"TimeInfinite", ",0.75\n", ",inf\n",
                "t.csv:14:69: end_s: 'inf' is not a number from 0 to"},
        BadCase{"TimeNegative", ",0.5,0.625", ",-0.5,0.625",
                "t.csv:14:59: ready_s: '-0.5' is not"},
        BadCase{"TimeTooLarge", ",0.75\n", ",1e300\n",
                "t.csv:14:69: end_s: '1e300' is not a number from 0"},
        BadCase{"TimeWithRest", "0.625", "0.625s",
                "t.csv:14:63: start_s: '0.625s' is not"},
        BadCase{"TimeEmpty", "0.625", "", "t.csv:14:63: start_s: '' is not"},
        BadCase{"EndBeforeStart", ",0.75\n", ",0.5\n",
                "t.csv:14:69: end_s: '0.5' is before start_s 0.625"},
        BadCase{"DoubledOp", "\n1,gemm", "\n0,gemm",
                "t.csv:14:1: op: '0' was already on line 13"},
        BadCase{"MissingOp", "\n1,gemm", "\n2,gemm",
                "t.csv:14:1: op: '2' is out of range; expected 0 to 1"},
        BadCase{"HugeOp", "\n1,gemm", "\n999999999,gemm",
                "t.csv:14:1: op: '999999999' is out of range"},
        BadCase{"OpNotANumber", "\n1,gemm", "\nx,gemm",
                "t.csv:14:1: op: 'x' is not a whole number"},
        BadCase{"FewerOps", "# ops=2", "# ops=3",
                "t.csv:14:1: 2 operations up to here; '# ops=' says 3"},
        BadCase{"QueueOnAnotherDevice", "gpu0 compute 0,gpu0,gpu0,gpu0",
                "host->gpu0,gpu1,host,gpu0",
                "t.csv:14:19: device: 'gpu1' differs from 'gpu0' of queue 'host->gpu0' "
                "before"},
        BadCase{"QuoteNeverClosed", "\"C[0:8,0:8]\"", "\"C[0:8",
                "t.csv:14:46: this quote is never closed"},
        BadCase{"TextAfterQuote", "\"C[0:8,0:8]\"", "\"C\"8",
                "t.csv:14:49: expected ',' after the closing quote"},
        BadCase{"ControlCharacter", "compute 0", "compute\t0",
                "t.csv:14:20: control character 0x09; expected text"},
        BadCase{"CarriageReturn", "0.75\n", "0.75\r\r\n",
                "t.csv:14:73: control character 0x0d"},
        BadCase{"CutOffRow", "0.75\n", "0.7",
                "t.csv:14:72: the line is cut off; expected a line break"}),
    [](const auto& bad) { return std::string{bad.param.name}; });

TEST(TimelineCsv, AFileCutOffAnywhereIsRefused) {
  const std::string csv = small_csv();
  for (size_t length = 0; length < csv.size(); ++length) {
    EXPECT_THROW(timeline_from_csv(csv.substr(0, length), "t.csv"), InputError) << length;
  }
}

TEST(TimelineCsv, DamagedFilesGiveInputErrorsOnly) {
  const std::string csv = small_csv();
  std::mt19937 random{7};
  const std::string alphabet = ",\"\n#=0-9eE.ngpu;\t\\";
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = csv;
    for (int change = 0; change < 3; ++change) {
      const size_t at = random() % damaged.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          damaged[at] = c;
          break;
        case 1:
          damaged.insert(at, 1, c);
          break;
        default:
          damaged.erase(at, 1 + random() % 5);
      }
    }
    try {
      const AnnotatedTimeline timeline = timeline_from_csv(damaged, "t.csv");
      EXPECT_EQ(timeline_from_csv(to_csv(timeline), "t.csv").ops.size(), 2u);
    } catch (const InputError&) {
    }
  }
}

TEST(TimelineCsv, AHundredThousandOperationsComeBack) {
  AnnotatedTimeline timeline;
  timeline.metadata = sample_timeline().metadata;
  timeline.queues = {{"gpu0 compute 0", "gpu0", "gpu0", "gpu0", ""},
                     {"host->gpu0", "gpu0", "host", "gpu0", "host->pcie;pcie->gpu0"}};
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> unit;
  double now = 0;
  for (uint32_t i = 0; i < 100'000; ++i) {
    const double end = now + 1e-6 * unit(random);
    const uint32_t label = timeline.labels.intern("A[" + std::to_string(i % 1000) + "]");
    timeline.ops.push_back({i % 2 ? OpKind::copy : OpKind::gemm, i % 2, label, i % 2,
                            1e9 * unit(random), now, now, end});
    now = end;
  }
  EXPECT_TRUE(timeline_from_csv(to_csv(timeline), "t.csv").ops == timeline.ops);
}

TEST(TimelineCsv, AMissingFileIsNamed) {
  try {
    load_timeline("no/such/timeline.csv");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string{error.what()},
              "'no/such/timeline.csv' cannot be read: No such file or directory");
  }
}

}  // namespace
}  // namespace tilerail
