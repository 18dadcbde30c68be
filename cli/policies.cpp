#include <fmt/format.h>

#include <cstdio>

#include "cli/command.hpp"
#include "sched/policy.hpp"
