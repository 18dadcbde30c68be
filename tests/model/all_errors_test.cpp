// All errors of a file, without those that only follow from others.
#include <gtest/gtest.h>

#include "model/machine/topology_toml.hpp"
#include "tests/support/bad_topology.hpp"

namespace tilerail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string changed(std::vector<std::pair<std::string, std::string>> changes) {
  std::string text = bad_topology::good;
  for (const auto& [from, to] : changes) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  }
  return text;
}

TEST(AllErrors, AGoodFileHasNone) { EXPECT_TRUE(topology_errors(bad_topology::good, "m").empty()); }

TEST(AllErrors, SeveralInOneTableAreInTheOrderOfTheFile) {
  const std::string text =
      changed({{"bandwidth = \"12 GB/s\"\nlatency = \"5 us\"", "bandwith = \"12\"\nlatency = \"5\""}});
  EXPECT_THAT(topology_errors(text, "m"),
              ElementsAre(HasSubstr("key 'bandwidth' is missing"), HasSubstr("unknown key 'bandwith'"),
                          HasSubstr("latency '5' has no known unit")));
}

TEST(AllErrors, ErrorsOfReadingDoNotHideThoseOfOtherTables) {
  const std::string text = changed({{"schema = 1", "schema = 2"},
                                    {"device = 0\ncapacity = \"16 GB\"", "device = -1\ncapacity = \"16 Gb\""},
                                    {"busy = \"300 W\"", "busy = \"3 W\""},
                                    {"\"2.6 ms\"", "\"2.6 us\""}});
  EXPECT_THAT(topology_errors(text, "m"),
              ElementsAre(HasSubstr("schema '2'"), HasSubstr("device '-1'"), HasSubstr("capacity '16 Gb'"),
                          HasSubstr("size 2048 takes less time")));
}

TEST(AllErrors, AnUnknownNodeIsToldOnceAndNotByGroupsAndRoutes) {
  EXPECT_THAT(topology_errors(changed({{"to = \"pcie0\"", "to = \"pcie9\""}}), "m"),
              ElementsAre(HasSubstr("to 'pcie9' is no node")));
  EXPECT_THAT(topology_errors(changed({{"[[switch]]\nname = \"pcie0\"", "[[switch]]\nnam = \"pcie0\""}}), "m"),
              ElementsAre(HasSubstr("key 'name' is missing"), HasSubstr("unknown key 'nam'")));
}

TEST(AllErrors, DefectsOfTheGraphAreAllThere) {
  const std::string text = changed({{"device = 1", "device = 0"}, {"\"spare\"", "\"spare:1\""}});
  EXPECT_THAT(topology_errors(text, "m"),
              ElementsAre(HasSubstr("device 0 is also that of 'gpu0'"), HasSubstr("node 'spare:1'")));
}

TEST(AllErrors, TextThatIsNoTomlHasOne) {
  EXPECT_THAT(topology_errors("schema = = 1", "m"), ElementsAre(HasSubstr("expected TOML")));
}

}  // namespace
}  // namespace tilerail
