#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sched/chain/chain_problem.hpp"

namespace tilerail {

/// Every product of a chain once, after those that make its operands, the left one first. The last one is the result.
using ChainOrder = std::vector<ChainProduct>;

/// All orders of so many factors: 1, 2, 5, 14, ... of 2, 3, 4, 5, ...
std::vector<ChainOrder> all_orders(std::size_t factors);

/// ((A B) C) ...
ChainOrder left_to_right(std::size_t factors);

/// What the order makes of the factors of a span, as "(A (B C))"; of one factor its letter.
std::string order_text(const ChainOrder& order, const ChainSpan& span);
/// Of all factors.
std::string order_text(const ChainOrder& order);

}  // namespace tilerail
