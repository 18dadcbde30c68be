#include "cli/output/issue_text.hpp"

#include <fmt/format.h>

#include "model/base/text.hpp"

namespace tilerail::cli {

std::string issue_text(const IssueCost& issue) {
  std::string text;
  if (issue.per_op.value > 0 || issue.per_kernel || issue.per_dependency.value > 0 || issue.per_call.value > 0) {
    text +=
        fmt::format("\nIssue cost: {} an operation, {}{} a dependency, {} a call\n", seconds_text(issue.per_op.value),
                    issue.per_kernel ? seconds_text(issue.per_kernel->value) + " a kernel, " : "",
                    seconds_text(issue.per_dependency.value), seconds_text(issue.per_call.value));
  }
  if (issue.hand_on.value > 0)
    text += fmt::format("From a copy to what waits for it, and to a copy: {}\n", seconds_text(issue.hand_on.value));
  if (const auto& graph = issue.graph)
    text +=
        fmt::format("As one graph: {} a call, {} a copy between memories, {} a kernel, {} a dependency between them\n",
                    seconds_text(graph->per_call.value), seconds_text(graph->per_copy.value),
                    seconds_text(graph->per_kernel.value), seconds_text(graph->per_dependency.value));
  if (issue.graph && issue.graph->between_gpus.value > 0)
    text += fmt::format("In it, from one GPU to what waits on another: {}\n",
                        seconds_text(issue.graph->between_gpus.value));
  return text;
}

}  // namespace tilerail::cli
