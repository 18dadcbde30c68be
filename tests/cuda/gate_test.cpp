// The gate that holds streams back; threads represent streams.
#include "backends/cuda/measure/gate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tilerail::cuda {
namespace {

TEST(GateTest, HoldsStreamsUntilOpened) {
  Gate gate;
  const Gate::Hold hold = gate.hold();
  std::atomic<bool> begun{false}, through{false};
  std::thread stream{[&] {
    begun = true;
    hold.function(hold.argument);
    through = true;
  }};
  while (!begun) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i)
    std::this_thread::yield();  // time for a stream that is not held back
  EXPECT_FALSE(through);
  gate.open();
  stream.join();
  EXPECT_TRUE(through);
}

/// An error while work is issued destroys the gate before its streams have started to
/// wait for it.
TEST(GateTest, StreamsPassADestroyedGate) {
  for (const int holds : {1, 5}) {
    std::optional<Gate> gate{std::in_place};
    const std::weak_ptr<const void> kept = gate->state();
    std::vector<Gate::Hold> waiting;
    for (int i = 0; i < holds; ++i) waiting.push_back(gate->hold());
    gate.reset();
    for (const Gate::Hold& hold : waiting) {
      ASSERT_FALSE(kept.expired()) << "a stream looks at memory that is freed";
      hold.function(hold.argument);
    }
    EXPECT_TRUE(kept.expired()) << "memory is left";
  }
}

TEST(GateTest, AHoldThatNoStreamTakesIsFreed) {
  std::optional<Gate> gate{std::in_place};
  const std::weak_ptr<const void> kept = gate->state();
  Gate::drop(gate->hold());
  gate.reset();
  EXPECT_TRUE(kept.expired());
}

}  // namespace
}  // namespace tilerail::cuda
