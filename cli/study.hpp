#pragma once

namespace tilerail::study {}

namespace tilerail::cli {
using namespace study;  // a command is what the study offers, with options and output
}
