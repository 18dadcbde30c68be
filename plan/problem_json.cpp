#include "plan/problem_json.hpp"

#include <nlohmann/json.hpp>

namespace tilerail {

nlohmann::ordered_json problem_json(const GemmProblem& p) {
  return {{"routine", to_string(p.routine)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"dtype", to_string(p.dtype)},
          {"transa", to_string(p.trans_a)},
          {"transb", to_string(p.trans_b)},
          {"alpha", p.alpha},
          {"beta", p.beta}};
}

}  // namespace tilerail
