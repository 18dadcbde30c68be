#include "sched/chain/chain_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilerail {
namespace {

std::vector<ChainOrder> orders_of(const ChainSpan& span) {
  if (span.is_factor()) return {{}};
  std::vector<ChainOrder> orders;
  for (std::size_t split = span.first; split < span.last; ++split) {
    const ChainProduct product{span.first, split, span.last};
    const std::vector<ChainOrder> rights = orders_of(product.right());
    for (const ChainOrder& left : orders_of(product.left()))
      for (const ChainOrder& right : rights) {
        ChainOrder& order = orders.emplace_back(left);
        order.insert(order.end(), right.begin(), right.end());
        order.push_back(product);
      }
  }
  return orders;
}

}  // namespace

std::vector<ChainOrder> all_orders(std::size_t factors) { return orders_of({0, factors - 1}); }

ChainOrder left_to_right(std::size_t factors) {
  ChainOrder order;
  for (std::size_t last = 1; last < factors; ++last) order.push_back({0, last - 1, last});
  return order;
}

std::string order_text(const ChainOrder& order, const ChainSpan& span) {
  if (span.is_factor()) return {static_cast<char>('A' + span.first)};
  const ChainProduct product = *std::ranges::find(order, span, &ChainProduct::whole);
  return fmt::format("({} {})", order_text(order, product.left()), order_text(order, product.right()));
}

std::string order_text(const ChainOrder& order) { return order_text(order, order.back().whole()); }

}  // namespace tilerail
