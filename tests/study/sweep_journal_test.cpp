// The rows of an interrupted sweep, in a file that the next run reads.
#include "study/sweep/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/base/files.hpp"
#include "model/machine/settings/machine_settings.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

class Journal : public ::testing::Test {
 protected:
  Journal() {
    sweep_.base.machine.topology = machine_;
    sweep_.base.policy.name = "gemmex";  // plans quickly
  }
  ~Journal() override { std::filesystem::remove(path_); }

  /// Runs at most `count` points that the journal lacks. Returns the rows as JSON.
  Json run(size_t count, size_t& planned) {
    const Machines machines = check_sweep(sweep_, machines_);
    SweepJournal journal{sweep_, machines, path_};
    Workers workers;
    workers.stop_asked = [&] { return planned == count; };
    size_t lines =
        std::max<size_t>(journal_lines(), 1);  // the first line is the kind of the file
    workers.ended = [&](size_t, size_t) {
      planned += std::max(journal_lines(), lines) - lines;
      lines = std::max(journal_lines(), lines);
    };
    return columns_of(sweep_).json_rows(run_sweep(sweep_, machines, workers, &journal));
  }
  size_t journal_lines() const {
    if (!std::filesystem::exists(path_)) return 0;
    const std::string text = read_file(path_);
    return size_t(std::ranges::count(text, '\n'));
  }
  Json run(size_t expected) {
    size_t planned = 0;
    Json rows = run(std::string::npos, planned);
    EXPECT_EQ(planned, expected);
    return rows;
  }
  void set(const std::vector<std::string>& axes) { sweep_ = sweep_of(sweep_.base, axes); }
  Json without_journal() const {
    return columns_of(sweep_).json_rows(
        run_sweep(sweep_, check_sweep(sweep_, machines_), {}));
  }

  const std::string machine_ = TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml";
  Sweep sweep_;
  Machines machines_ = {};
  const std::string path_ =
      ::testing::TempDir() + "journal-" + std::to_string(::getpid());
};

TEST_F(Journal, AnInterruptedSweepContinues) {
  set({"gemm=64,128,100000", "dtype=f64,f32"});
  sweep_.base.problem.place = "0:0:0";  // 100000 fails: too large
  size_t planned = 0;
  EXPECT_EQ(run(2, planned).size(), 2u);
  EXPECT_EQ(run(4), without_journal());
  EXPECT_EQ(run(0), without_journal());
}

TEST_F(Journal, AChangedSweepTakesTheRowsThatBothHave) {
  set({"gemm=64,128", "tile=32"});
  run(2);
  set({"tile=16,32", "gemm=128,256"});
  EXPECT_EQ(run(3), without_journal());
}

TEST_F(Journal, OtherInputsAreOtherRows) {
  set({"gemm=64"});
  run(1);
  sweep_.base.machine.settings = {"gpus=1"};
  run(1);
  sweep_.base.policy.overrides = {"batch=off"};
  run(1);
  sweep_.base.problem.beta = "0";
  run(1);
  const std::vector<std::string> faster{"link:host<->pcie0.bandwidth=x2"};
  machines_.emplace(machine_, with_settings(check_sweep(sweep_).at(machine_), faster));
  run(1);
  run(0);
}

TEST_F(Journal, ADamagedFileIsRefused) {
  set({"gemm=64,128"});
  run(2);
  std::string text = read_file(path_);
  text[text.find('\n') + 30] ^= 1;
  std::ofstream{path_} << text;
  size_t planned = 0;
  expect_error([&] { run(2, planned); }, {.place = path_ + ":2"});
  EXPECT_EQ(read_file(path_), text);
  std::ofstream{path_} << "a file of the user\n";
  expect_error([&] { run(2, planned); }, {.place = path_ + ":1"});
  EXPECT_EQ(read_file(path_), "a file of the user\n");
}

}  // namespace
}  // namespace tilerail::study
