#pragma once

namespace tilerail::cli {

/// From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and the signals of limits, unless they are ignored, leave no staged
/// file and no process of ours behind before they end the program.
void clean_up_on_signals();

}  // namespace tilerail::cli
