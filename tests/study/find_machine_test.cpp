#include "study/planning/find_machine.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

namespace fs = std::filesystem;

/// A temporary folder of machines, set in the environment.
class FindMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path{::testing::TempDir()} /
              ("tilerail-machines-" + std::to_string(::getpid()));
    fs::create_directory(folder_);
    std::ofstream{folder_ / "mine.toml"} << "schema = 1\n";
    setenv("TILERAIL_TOPOLOGIES", folder_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("TILERAIL_TOPOLOGIES");
    fs::remove_all(folder_);
  }
  fs::path folder_;
};

TEST_F(FindMachine, NamesAreLookedUpAndPathsStayUnchanged) {
  EXPECT_EQ(find_machine("mine"), folder_ / "mine.toml");
  EXPECT_EQ(find_machine(folder_ / "mine.toml"), folder_ / "mine.toml");
  EXPECT_THAT(machine_names(), ::testing::Contains("mine"));
}

TEST_F(FindMachine, DevicesAndPipesAreAccepted) {
  EXPECT_EQ(find_machine("/dev/null"), "/dev/null");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(find_machine(folder_ / "pipe"), folder_ / "pipe");
}

TEST_F(FindMachine, ErrorsDistinguishMissingFilesFromFolders) {
  expect_input_error(
      [&] { find_machine(folder_); },
      {"topology: '" + folder_.string() + "' is a folder; expected a .toml file"});
  expect_input_error([&] { find_machine("no/such.toml"); },
                     {"topology: 'no/such.toml' does not exist"});
  expect_input_error([&] { find_machine("yours"); },
                     {"topology: 'yours' does not exist", "mine"});
}

}  // namespace
}  // namespace tilerail::study
