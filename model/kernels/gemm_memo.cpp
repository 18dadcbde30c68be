#include "model/kernels/gemm_memo.hpp"

#include <boost/container_hash/hash.hpp>

namespace tilerail {

std::size_t GemmMemo::Hash::operator()(const Kernel& kernel) const {
  std::size_t seed = 0;
  boost::hash_combine(seed, kernel.m);
  boost::hash_combine(seed, kernel.n);
  boost::hash_combine(seed, kernel.k);
  boost::hash_combine(seed, kernel.device);
  boost::hash_combine(seed, static_cast<int>(kernel.dtype));
  boost::hash_combine(seed, static_cast<int>(kernel.trans_a));
  boost::hash_combine(seed, static_cast<int>(kernel.trans_b));
  boost::hash_combine(seed, kernel.in_graph);
  return seed;
}

std::optional<GemmMemo::Cost> GemmMemo::find(const Kernel& kernel) const {
  const std::scoped_lock lock{mutex_};
  const auto known = known_.find(kernel);
  if (known == known_.end()) return std::nullopt;
  return known->second;
}

void GemmMemo::add(const Kernel& kernel, const Cost& cost) {
  constexpr std::size_t most = 1 << 16;  // about 6 MB
  const std::scoped_lock lock{mutex_};
  if (known_.size() >= most) known_.clear();
  known_.emplace(kernel, cost);
}

}  // namespace tilerail
