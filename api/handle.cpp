#include "api/handle.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace {

/// The contexts that there are. Outlives those of static variables.
struct Contexts {
  std::mutex mutex;
  std::map<const tilerail_context*, std::uint64_t> numbers;
  std::uint64_t made = 0;

  static Contexts& all() {
    static Contexts& contexts = *new Contexts;
    return contexts;
  }
};

}  // namespace

tilerail_context::tilerail_context(tilerail::Context given) : context{std::move(given)} {
  Contexts& all = Contexts::all();
  const std::lock_guard lock{all.mutex};
  all.numbers[this] = ++all.made;
}

tilerail_context::~tilerail_context() {
  Contexts& all = Contexts::all();
  const std::lock_guard lock{all.mutex};
  all.numbers.erase(this);
}

std::uint64_t tilerail::api::number_of(const tilerail_context* handle) {
  Contexts& all = Contexts::all();
  const std::lock_guard lock{all.mutex};
  const auto found = all.numbers.find(handle);
  return found == all.numbers.end() ? 0 : found->second;
}
