#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/options.hpp"
