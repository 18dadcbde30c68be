#include "model/base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "model/base/error.hpp"
#include "model/base/line_log.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

namespace fs = std::filesystem;

/// A new empty folder for each test.
class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path{::testing::TempDir()} / ("tilerail-files-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  size_t count() const {
    return size_t(
        std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{}));
  }
  static void write(const std::string& where, std::string_view content) {
    StagedFile{where, content}.commit();
  }
  static std::string refusal(const std::string& where) {
    try {
      write(where, "x");
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  fs::path folder_;
};

TEST_F(Files, ReadsReturnTheWrittenContent) {
  const std::string content("a\0b\n\xff", 5);
  write(path("f"), content);
  EXPECT_EQ(read_file(path("f")), content);
  EXPECT_EQ(count(), 1u);  // no temporary files remain
}

TEST_F(Files, LargeContentIsWhole) {
  std::string content(3'000'001, 'x');
  content.back() = 'y';
  write(path("f"), content);
  EXPECT_EQ(read_file(path("f")), content);
}

TEST_F(Files, PiecesSurviveWritingAndReading) {
  const std::string piece(100'000, 'x');
  StagedFile{path("f"),
             [&](const TextSink& sink) {
               for (int i = 0; i < 30; ++i) sink(piece);
               sink("y");
             }}
      .commit();
  InputFile file{path("f")};
  const std::string text{std::istreambuf_iterator<char>{file.stream()}, {}};
  EXPECT_EQ(text.size(), 3'000'001u);
  EXPECT_EQ(text, read_file(path("f")));
}

TEST_F(Files, FailedContentLeavesTheOldFileUnchanged) {
  write(path("f"), "old");
  const auto broken = [](const TextSink& sink) {
    sink("new");
    throw fault_of("", "no more of it");
  };
  EXPECT_THROW(StagedFile(path("f"), broken), InputError);
  EXPECT_EQ(read_file(path("f")), "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, UnreadableFilesAreRefusedBeforeTheFirstPiece) {
  EXPECT_THROW(InputFile{folder_.string()}, InputError);
  EXPECT_THROW(InputFile{path("absent")}, InputError);
  EXPECT_THROW(InputFile{"/dev/zero"}, InputError);
}

TEST_F(Files, AnExistingFileIsReplacedAndKeepsItsMode) {
  write(path("f"), "old");
  ::chmod(path("f").c_str(), 0640);
  write(path("f"), "new");
  EXPECT_EQ(read_file(path("f")), "new");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms{0640});
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, ALinkStaysALink) {
  write(path("target"), "old");
  fs::create_symlink("target", path("link"));
  write(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
}

TEST_F(Files, ALinkToNothingCreatesItsTarget) {
  fs::create_directory(path("sub"));
  fs::create_symlink("sub/middle", path("link"));
  fs::create_symlink("../target", path("sub/middle"));
  write(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("sub/middle")));
  EXPECT_EQ(read_file(path("target")), "new");
  EXPECT_EQ(count(), 3u);
}

TEST_F(Files, LinksThatLeadNowhereAreRefused) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  fs::create_symlink("no/f", path("c"));
  EXPECT_EQ(refusal(path("a")),
            "'" + path("a") + "' cannot be written: Too many levels of symbolic links");
  EXPECT_EQ(refusal(path("c")), "'" + path("c") + "' cannot be written: the folder '" +
                                    path("no") + "' does not exist");
  EXPECT_EQ(count(), 3u);
}

TEST_F(Files, NamesOfOneFileHaveOneIdentityEvenIfTheFileIsMissing) {
  fs::create_symlink("f", path("link"));
  const auto identity = [&](const std::string& name) {
    return identity_of(output_target(path(name)));
  };
  const auto both_agree = [&] {
    EXPECT_EQ(identity("link"), identity("f"));
    EXPECT_EQ(identity("../" + folder_.filename().string() + "/f"), identity("f"));
    EXPECT_NE(identity("F"), identity("f"));
  };
  both_agree();
  write(path("f"), "x");
  both_agree();
  EXPECT_FALSE(identity_of(output_target("/dev/null")));
}

TEST_F(Files, ADescriptorIsWrittenAfterItsContent) {
  const int descriptor = ::open(path("f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(descriptor, "one ", 4), 4);
  write("/proc/self/fd/" + std::to_string(descriptor), "two");
  EXPECT_EQ(read_file(path("f")), "one two");
  ::close(descriptor);
}

TEST_F(Files, ADeviceIsWrittenInPlace) {
  write("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, AMissingFolderIsNamed) {
  EXPECT_EQ(refusal(path("no/f")), "'" + path("no/f") +
                                       "' cannot be written: the folder '" + path("no") +
                                       "' does not exist");
  EXPECT_EQ(count(), 0u);
}

TEST_F(Files, AFolderIsNotAFile) {
  EXPECT_EQ(refusal(folder_.string()),
            "'" + folder_.string() + "' cannot be written: Is a directory");
  EXPECT_THROW(read_file(folder_.string()), InputError);
}

TEST_F(Files, AFailureLeavesTheOldContent) {
  write(path("f"), "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few_bytes{100, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few_bytes), 0);
  EXPECT_THROW(write(path("f"), std::string(1000, 'n')), InputError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(read_file(path("f")), "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, TheLongestNameIsWritten) {
  for (const std::string& name : {std::string(255, 'n'), "f." + std::string(253, 'e')}) {
    write(path(name), "x");
    EXPECT_EQ(read_file(path(name)), "x");
  }
  EXPECT_EQ(count(), 2u);
  EXPECT_NE(refusal(path(std::string(256, 'n'))), "no error");
}

TEST_F(Files, UncommittedFilesLeaveNoTrace) {
  write(path("f"), "old");
  {
    const StagedFile staged{path("f"), "new"};
    EXPECT_EQ(read_file(staged.staged()), "new");
    EXPECT_EQ(fs::path{staged.staged()}.filename().string().front(), '.');
  }
  EXPECT_EQ(read_file(path("f")), "old");
  EXPECT_EQ(count(), 1u);
}

TEST_F(Files, StagedNamesKeepTheirExtensionAndDiffer) {
  const StagedFile one{path("f.svg"), "1"}, two{path("f.svg"), "2"};
  EXPECT_EQ(fs::path{one.staged()}.extension(), ".svg");
  EXPECT_NE(one.staged(), two.staged());
  EXPECT_EQ(read_file(one.staged()), "1");
}

TEST_F(Files, DiscardingRemovesStagedFilesAndKeepsCommittedFiles) {
  StagedFile committed{path("f"), "x"}, staged{path("g"), "y"};
  committed.commit();
  discard_staged_files();
  EXPECT_EQ(read_file(path("f")), "x");
  EXPECT_EQ(count(), 1u);
  EXPECT_THROW(staged.commit(), InputError);
}

TEST_F(Files, AMissingFileIsNamed) {
  try {
    read_file(path("f"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string{error.what()},
              "'" + path("f") + "' cannot be read: No such file or directory");
  }
}

using Lines = std::vector<std::string>;

TEST_F(Files, ALogKeepsCompleteLines) {
  {
    LineLog log{path("log"), "kind"};
    EXPECT_TRUE(log.lines().empty());
  }
  EXPECT_EQ(count(), 0u);  // a log without lines does not exist
  {
    LineLog log{path("log"), "kind"};
    log.append("one");
    log.append("");
  }
  std::ofstream{path("log"), std::ios::app} << "cut of";  // by the end of a program
  {
    LineLog log{path("log"), "kind"};
    EXPECT_EQ(log.lines(), (Lines{"one", ""}));
    log.append("two");
  }
  EXPECT_EQ(read_file(path("log")), "kind\none\n\ntwo\n");
  LineLog log{path("log"), "kind"};
  log.remove();
  log.remove();  // it may be gone
  EXPECT_EQ(count(), 0u);
}

TEST_F(Files, ALogHasOneOwner) {
  LineLog log{path("log"), "kind"};
  expect_input_error([&] { LineLog(path("log"), "kind"); },
                     {path("log"), "is in use by another program"});
  expect_input_error([&] { LineLog(folder_.string(), "kind"); }, {"cannot be written"});
  expect_input_error([&] { LineLog(path("no/log"), "kind"); },
                     {path("no/log"), "No such file"});
}

TEST_F(Files, OtherFilesAreRefusedAsLogs) {
  for (const std::string text : {"notes", "notes\nof a user", "kind \n"}) {
    write(path("log"), text);
    expect_error([&] { LineLog(path("log"), "kind"); },
                 {.expected = "this line; remove the file if it is obsolete",
                  .place = path("log") + ":1"});
    EXPECT_EQ(read_file(path("log")), text);
  }
  write(path("log"), "kin");  // the rest was cut off
  EXPECT_TRUE(LineLog(path("log"), "kind").lines().empty());
}

TEST_F(Files, ALogIsWholeAfterAFullDisk) {
  LineLog log{path("log"), "kind"};
  log.append("one");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few_bytes{12, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few_bytes), 0);
  EXPECT_THROW(log.append("a long line"), InputError);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(read_file(path("log")), "kind\none\n");
  log.append("two");
  EXPECT_EQ(read_file(path("log")), "kind\none\ntwo\n");
}

}  // namespace
}  // namespace tilerail
