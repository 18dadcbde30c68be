#include "sched/policy/emulation.hpp"

#include "sched/policy/choices.hpp"

namespace tilerail {

const Emulation& emulation_of(const Choices& choices) {
  static const Emulation none;
  return choices.emulation ? *choices.emulation : none;
}

}  // namespace tilerail
