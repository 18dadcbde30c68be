#include "cost/page_reuse.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "cost/copy_times.hpp"
#include "model/base/indices.hpp"
#include "plan/op_kinds.hpp"

namespace tilerail {
namespace {

/// Both halves of the L2 cache of a GPU keep what multiprocessors on both sides read, as those of a product do with its
/// factors.
constexpr double halves_of_cache = 2;

/// The rows of some columns that the last copy of them has used, in bytes from the top of a column, and how many
/// kernels of the device came before it.
struct Used {
  double from, to;
  size_t kernels;

  /// The share of the entries of other rows of these columns that are those of rows that were used. Where columns start
  /// within a line is taken to be anywhere.
  double share(double first, double last) const {
    if (first >= from && last <= to) return 1;
    const double apart = std::max({0.0, first - to, from - last});
    return std::max(0.0, 1 - apart / StridedEfficiency::line.value) /
           (1 + (last - first) / StridedEfficiency::line.value);
  }
};

/// What the kernels of a device have read and written so far.
class Kernels {
 public:
  void use(const Plan& plan, const Op& op) {
    const auto bytes = [&](const View& view) {
      return double(view.rows * view.cols * plan.buffer(view.buffer).element());
    };
    const double halves = op.kind == OpKind::gemm ? halves_of_cache : 1;
    common_.push_back(0);
    if (reads_a(op)) use(op.a, 0, halves * bytes(op.a));
    if (reads_b(op)) use(op.b, 1, halves * bytes(op.b));
    use(op.y, 2, bytes(op.y));
    filled_.push_back(total_);
  }

  size_t count() const { return common_.size(); }

  /// Bytes of the cache that all kernels but the first `before` have filled. What a kernel has in common with the one
  /// before it is in the cache already, if that one is among them.
  double filled_since(size_t before) const {
    if (before == count()) return 0;
    return total_ - (before > 0 ? filled_[before - 1] : 0) + common_[before];
  }

 private:
  void use(const View& view, size_t operand, double size) {
    View& before = last_[operand];
    if (before.buffer == view.buffer && before.row == view.row && before.col == view.col && before.rows == view.rows)
      common_.back() += size;
    else
      total_ += size;
    before = view;
  }

  double total_ = 0;
  std::vector<double> filled_, common_;  // by kernel: in all after it; what it has in common with the one before it
  std::array<View, 3> last_{};           // a, b, y
};

}  // namespace

PageReuse::PageReuse(const Plan& plan, const Topology& topology) {
  const StridedEfficiency& strided = topology.description().strided;
  if (strided.again.empty()) return;
  shares_.assign(plan.ops.size(), 0.0F);
  std::vector<Kernels> of_device(topology.memories().size());
  std::map<std::tuple<size_t, BufferId, int64_t, int64_t>, Used> used;  // by device, buffer and columns
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (op.kind == OpKind::join) continue;
    const Queue& queue = plan.queue(op.queue);
    if (op.kind != OpKind::copy) {
      of_device[queue.dst.index()].use(plan, op);
      continue;
    }
    const bool in = topology.is_host(queue.src);
    if (in == topology.is_host(queue.dst) || copy_columns(plan, op, topology).bytes == 0) continue;
    const size_t device = (in ? queue.dst : queue.src).index();
    const View& view = in ? op.a : op.y;
    const int64_t element = plan.buffer(view.buffer).element();
    const auto first = double(view.row * element), last = double((view.row + view.rows) * element);
    const Kernels& kernels = of_device[device];
    const Used now{first, last, kernels.count()};
    const auto [found, is_new] = used.try_emplace({device, view.buffer, view.col, view.cols}, now);
    if (is_new) continue;
    Used& before = found->second;
    if (kernels.filled_since(before.kernels) < strided.cache.value) shares_[i] = float(before.share(first, last));
    before = now;
  }
}

}  // namespace tilerail
