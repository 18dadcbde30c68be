#pragma once

#include <functional>

namespace tilerail::test {

/// Number of calls of operator new in this program so far.
int allocations();

/// Calls `what` once, in the n-th call of operator new by this thread from now on. `what`
/// must live until then.
void at_allocation(int n, const std::function<void()>& what);

}  // namespace tilerail::test
