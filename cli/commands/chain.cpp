#include <fmt/format.h>

#include <memory>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/options/options.hpp"
#include "cli/output/chain_text.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/progress.hpp"
#include "model/base/error.hpp"
#include "study/chain/chain_text.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(Chooses the order of the multiplications and where each intermediate lies, by estimates, and simulates each product
as 'simulate' does without a plan cache, one after another (docs/model.md#chains-of-products). Beside it stand all other
orders of up to 5 factors, and left to right with all intermediates on the host.
Examples:
  tilerail chain --dims 8K,512,8K,1K --topology hgx-h200-2
  tilerail chain --dims 4K,4K,4K,64 --place 0:1:h:h --trans NTN --topology clx-ai --devices 0-3 --json -)";

struct ChainOptions {
  study::ChainText chain;
  study::MachineText machine;
  study::PolicyText policy;
  std::string json;
};

int run_chain(const ChainOptions& options) {
  OutputSet files;
  files.expect(options.json, "--json");
  const Topology topology = options.machine.load();
  const study::ChainQuestion question{options.chain.resolve(topology), topology,
                                      options.machine.resolve_devices(topology), options.policy.resolve()};
  const study::ChainStudy study = [&] {
    CountedProgress progress{"simulating"};
    return study::study_chain(question, [&](std::size_t done, std::size_t all) { progress.show(done, all); });
  }();
  files.add(options.json, to_json(study, question));
  files.finish(to_text(study, question));
  return exit_ok;
}

}  // namespace

Command add_chain(CLI::App& root) {
  auto options = std::make_shared<ChainOptions>();
  CLI::App* app = root.add_subcommand("chain", "Choose the order of a product of several matrices, and simulate it");
  app->footer(footer);
  study::ChainText& chain = options->chain;
  OptionGroup group{*app, "PROBLEM: R = alpha op(A) op(B) op(C) ... + beta R"};
  group.add("--dims", "N0,N1,...", chain.dims, "op(A) is N0 x N1, op(B) N1 x N2, ...; 2 to 12 factors; 16K is 16384")
      ->required();
  group.add("--dtype", "TYPE", chain.dtype, "f64, f32, f16, bf16 or tf32 [f64]");
  group.add("--trans", "NT...", chain.trans, "N or T of each factor [all N]");
  group.add("--alpha", "X", chain.alpha, "Scalar of the product, not 0 [1]");
  group.add("--beta", "X", chain.beta, "Scalar of R; 0 never reads it [0]");
  group.add("--place", "A:B:...:R", chain.place,
            "Memories of the factors and of R, each h, h1, a GPU number or a name; h*, h/cols, h/rows and, of factors, "
            "g* as of a gemm [all h]");
  add_options(*app, options->machine);
  add_options(*app, options->policy);
  OptionGroup{*app, "OUTPUT"}.add("--json", "FILE", options->json, "Result as JSON into a file, or - for stdout");
  return {app, [options] { return run_chain(*options); }};
}

}  // namespace tilerail::cli
