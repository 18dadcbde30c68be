#pragma once

namespace tilerail::test {

/// How often this program has called operator new so far.
int allocations();

}  // namespace tilerail::test
