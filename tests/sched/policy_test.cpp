#include "sched/policy/fields.hpp"

#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

TEST(Policy, BaselineNeitherCachesNorOverlaps) {
  const Policy p = preset("baseline");
  EXPECT_FALSE(p.caching);
  EXPECT_FALSE(p.overlap);
  EXPECT_EQ(p.routing, Routing::initial);
}

TEST(Policy, GemmexIsTheThesisWithItsOneIssuingThread) {
  const Policy p = preset("gemmex");
  EXPECT_EQ(p.routing, Routing::eta);
  EXPECT_TRUE(p.batch);
  EXPECT_EQ(p.chunks, 8);
  EXPECT_EQ(p.c_tiles, CTiles::automatic);
  EXPECT_EQ(p.order, Order::eta);
  EXPECT_EQ(p.grid, GridChoice::square);
  EXPECT_TRUE(p.single_issuer);
}

TEST(Policy, EveryPresetCanBeFoundByItsName) {
  for (const std::string& name : preset_names()) EXPECT_EQ(preset(name).name, name);
}

TEST(Policy, OverridesChangeOneFieldAndTheName) {
  Policy p = preset("gemmex");
  apply_override(p, "routing=link-eta");
  apply_override(p, "chunks=4");
  EXPECT_EQ(p.routing, Routing::link_eta);
  EXPECT_EQ(p.chunks, 4);
  EXPECT_EQ(p.name, "gemmex+routing=link-eta+chunks=4");
}

TEST(Policy, BadOverridesNameTheFieldTheValueAndTheChoices) {
  Policy p = preset("gemmex");
  expect_input_error([&] { apply_override(p, "routing=fastest"); }, {"routing=fastest", "bandwidth", "link-eta"});
  expect_input_error([&] { apply_override(p, "chunks=0"); }, {"chunks=0", "1 to 1024"});
  expect_input_error([&] { apply_override(p, "chunks=4x"); }, {"chunks=4x"});
  expect_input_error([&] { apply_override(p, "memory-fraction=nan"); }, {"memory-fraction=nan"});
  expect_input_error([&] { apply_override(p, "colour=red"); }, {"colour", "no such field", "routing"});
  expect_input_error([&] { apply_override(p, "routing"); }, {"key=value"});
  expect_input_error([] { preset("fastest"); }, {"fastest", "baseline", "gemmex", "tilerail"});
  EXPECT_EQ(p.name, "gemmex");
}

}  // namespace
}  // namespace tilerail
