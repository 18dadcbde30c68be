#pragma once

namespace tilerail::test {

/// Number of calls of operator new in this program so far.
int allocations();

}  // namespace tilerail::test
