#include "sched/policy/policy.hpp"

#include "model/base/error.hpp"

namespace tilerail {
namespace {

const Policy& preset_of_our_own() {
  static const Policy row{.preset = "tilerail",
                          .device_choice = DeviceChoice::search,
                          .effort = Effort::normal,
                          .grid = GridChoice::automatic,
                          .shares = Shares::by_speed,
                          .tile_choice = TileChoice::search,
                          .choices = {.routing = Routing::link_eta,
                                      .batch = Batch::tree,
                                      .sends = Sends::in_order,
                                      .c_tiles = CTiles::automatic,
                                      .order = Order::eta,
                                      .compute_streams = 0}};
  return row;
}

}  // namespace

Policy preset(std::string_view name) {
  const Policy& own = preset_of_our_own();
  if (name != own.preset)
    throw unknown_name("policy", name, "a policy", std::vector{own.preset});
  return own;
}

}  // namespace tilerail
