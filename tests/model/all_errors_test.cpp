// All errors of a file, without those that only follow from others.
#include <fmt/format.h>
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
              ElementsAre(HasSubstr("to 'pcie9' is not a node")));
  EXPECT_THAT(topology_errors(changed({{"[[switch]]\nname = \"pcie0\"", "[[switch]]\nnam = \"pcie0\""}}), "m"),
              ElementsAre(HasSubstr("key 'name' is missing"), HasSubstr("unknown key 'nam'")));
}

TEST(AllErrors, EveryNameOfAListIsTold) {
  EXPECT_THAT(topology_errors(changed({{"to = [\"gpu0\", \"gpu1\"]", "to = [\"gpu7\", \"gpu[1-9]\", \"gpu[\"]"}}), "m"),
              ElementsAre(HasSubstr("to 'gpu7' is not a node"),
                          HasSubstr("to 'gpu[1-9]' 'gpu2', 'gpu3', 'gpu4', 'gpu5' and 4 more are not nodes; expected"),
                          HasSubstr("to 'gpu[' is not a list of names")));
  EXPECT_THAT(topology_errors(changed({{"from = \"host\"\nto = \"pcie0\"", "from = \"hst\"\nto = \"pci\""}}), "m"),
              ElementsAre(HasSubstr("from 'hst' is not a node"), HasSubstr("to 'pci' is not a node")));
}

TEST(AllErrors, EveryLinkOfAListIsTold) {
  const std::string group =
      "[[group]]\nname = \"other\"\nforward = [\"host->gpu7\", \"host\", \"host->pcie[0-2]\", \"host->gpu8\"]\n"
      "backward = [\"gpu9->host\"]\ncapacity = \"1 GB/s\"\nsource = \"s\"\n";
  EXPECT_THAT(topology_errors(bad_topology::good + group, "m"),
              ElementsAre(HasSubstr("forward 'host->gpu7' is not a link"), HasSubstr("forward 'host' is not a link"),
                          HasSubstr("forward 'host->pcie[0-2]' 'host->pcie1', 'host->pcie2' are not links; expected"),
                          HasSubstr("forward 'host->gpu8' is"), HasSubstr("backward 'gpu9->host' is not a link")));
  EXPECT_THAT(topology_errors(bad_topology::good + "[[route]]\nfrom = \"gpu[0-2]\"\nto = \"gpu9\"\nlinks = [\"a->b\"]\n"
                                                   "source = \"s\"\n",
                              "m"),
              ElementsAre(HasSubstr("from 'gpu[0-2]' 'gpu2' is not a memory"), HasSubstr("to 'gpu9' is not a memory"),
                          HasSubstr("links 'a->b' is not a link")));
}

TEST(AllErrors, AMissingMemoryOfARouteDoesNotMakeItsLinksTooMany) {
  EXPECT_THAT(topology_errors(bad_topology::good + "[[route]]\nfrom = \"host\"\nto = \"gpu[0-1]\"\n"
                                                   "links = [\"host->gpu[0-1]\"]\nsource = \"s\"\n",
                              "m")
                  .size(),
              1u);
}

TEST(AllErrors, ATableOfAnotherNameIsToldAlone) {
  for (const auto& [table, other] : {std::pair{"[[link]]", "lnk"}, {"[[memory]]", "memry"}, {"[[switch]]", "swich"}})
    EXPECT_THAT(topology_errors(changed({{table, fmt::format("[[{}]]", other)}}), "m"),
                ElementsAre(HasSubstr(fmt::format("unknown key '{}'", other))));
  EXPECT_THAT(topology_errors(changed({{"[sources]", "[source]"}}), "m"),
              ElementsAre(HasSubstr("key 'sources' is missing"), HasSubstr("unknown key 'source'")));
}

TEST(AllErrors, DefectsOfTheGraphAreAllThere) {
  const std::string text = changed({{"device = 1", "device = 0"}, {"\"spare\"", "\"spare:1\""}});
  EXPECT_THAT(topology_errors(text, "m"),
              ElementsAre(HasSubstr("device 0 is also that of 'gpu0'"), HasSubstr("node 'spare:1'")));
}

const std::string far_route = R"([[route]]
from = "gpu0"
to = "gpu9"
links = ["gpu0->pcie0"]
source = "s"
)";
const std::string bad_group = R"([[group]]
name = "other"
forward = ["host->gpu7"]
capacity = "1 GB/s"
source = "s"
)";

TEST(AllErrors, GroupsAndRoutesHideNothing) {
  EXPECT_THAT(
      topology_errors(changed({{"[\"host->pcie0\"]", "[\"host->pcie8\"]"}}) + far_route + bad_group + far_route, "m"),
      ElementsAre(HasSubstr("forward 'host->pcie8'"), HasSubstr("to 'gpu9' is not a memory"),
                  HasSubstr("forward 'host->gpu7'"), HasSubstr("to 'gpu9' is not a memory")));
}

TEST(AllErrors, ABadSourceHidesNoNodes) {
  EXPECT_THAT(
      topology_errors(changed({{"[sources]", "[sources]\nbad = 5"}, {"to = \"pcie0\"", "to = \"pcie9\""}}), "m"),
      ElementsAre(HasSubstr("bad '5' is not a table"), HasSubstr("'pcie9' is not a node")));
}

std::string absent(const std::string& file) { throw InputError{"cannot read '" + file + "'"}; }

TEST(AllErrors, WhatIsIncludedMayBeMissing) {
  const std::string include = "include = [\"no.toml\", {file = \"none.toml\", take = [\"kernel\", \"memory.gpu0\"]}]\n";
  const std::string text =
      include + changed({{"\"12 GB/s\"", "\"12 Gb\""}, {"to = \"pcie0\"", "to = \"maybe there\""}});
  EXPECT_THAT(topology_errors(text, "m", absent),
              ElementsAre(HasSubstr("include 'no.toml' is not there"), HasSubstr("file 'none.toml' is not there"),
                          HasSubstr("take 'kernel' is unknown"), HasSubstr("take 'memory.gpu0' is unknown"),
                          HasSubstr("bandwidth '12 Gb'")));
}

TEST(AllErrors, WhatIsTakenIsInTheFile) {
  const auto errors = [](const std::string& take, const std::string& file) {
    return topology_errors("include = {file = \"k.toml\", take = [" + take + "]}\n" + bad_topology::good, "m",
                           [&](const std::string&) { return file; });
  };
  const std::string kernels = "[kernels.a]\n[kernels.b]\n";
  EXPECT_THAT(errors("\"kernels.nope\", \"copies\"", kernels),
              ElementsAre(HasSubstr("take 'kernels.nope' is not in 'k.toml'"), HasSubstr("take 'copies' is not in")));
  EXPECT_THAT(errors("", kernels), ElementsAre(HasSubstr("takes nothing")));
  EXPECT_THAT(errors("\"link\"", "= 5"), ElementsAre(HasSubstr("file 'k.toml' cannot be read: k.toml:1:")));
}

const std::string node_template = R"(
[[template.node.switch]]
name = "plx"
source = "s"
[[template.node.link]]
from = "pcie0"
to = "plx"
bandwidth = "1 Gb"
latency = "1 us"
source = "s"
)";

TEST(AllErrors, OfATemplateAreToldOnce) {
  const std::string two = "[[instance]]\ntemplate = \"node\"\nnames = \"n[0-3]\"\n";
  EXPECT_THAT(topology_errors(bad_topology::good + node_template + two, "m"),
              ElementsAre(HasSubstr("bandwidth '1 Gb'")));
  std::string bad_name = node_template;
  bad_name.replace(bad_name.find("1 Gb"), 4, "1 GB/s");
  bad_name.replace(bad_name.find("name = \"plx\""), 12, "name = \"p:x\"");
  bad_name.replace(bad_name.find("to = \"plx\""), 10, "to = \"p:x\"");
  EXPECT_THAT(topology_errors(bad_topology::good + bad_name + two, "m"), ElementsAre(HasSubstr("node 'n0.p:x'")));
}

TEST(AllErrors, TemplatesWithoutAnInstanceAreReadToo) {
  EXPECT_THAT(topology_errors(bad_topology::good + node_template, "m"), ElementsAre(HasSubstr("bandwidth '1 Gb'")));
  std::string outer = node_template;  // whoever takes it may have the node
  outer.replace(outer.find("pcie0"), 5, "other");
  outer.replace(outer.find("1 Gb"), 4, "1 GB/s");
  EXPECT_THAT(topology_errors(bad_topology::good + outer, "m"), ElementsAre());
}

TEST(AllErrors, TemplatesThatAreNoneAreAllTold) {
  EXPECT_THAT(
      topology_errors(bad_topology::good + "[template]\nb = 3\nc = 4\n[[instance]]\ntemplate = \"b\"\nname = \"n\"\n"
                                           "[[instance]]\ntemplate = 7\nname = \"n\"\n[[switch]]\nnme = \"x\"\n",
                      "m"),
      ElementsAre(HasSubstr("b '3' is not a table"), HasSubstr("c '4' is not a table"), HasSubstr("template '7'"),
                  HasSubstr("key 'name' is missing"), HasSubstr("unknown key 'nme'")));
}

TEST(AllErrors, TextThatIsNoTomlHasOne) {
  EXPECT_THAT(topology_errors("schema = = 1", "m"), ElementsAre(HasSubstr("expected TOML")));
}

}  // namespace
}  // namespace tilerail
