"""An installed TileRail in another project: found by find_package, compiled against, linked and run."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TILERAIL_SOURCE"])
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
find_package(tilerail 0.1 REQUIRED)
add_executable(consumer main.cpp name.c)
target_link_libraries(consumer PRIVATE tilerail::api)
"""
PROGRAM = """
#include <cstdio>
#include <model/machine/topology_toml.hpp>
#include <tilerail/tilerail.hpp>
extern "C" const char* name_of_success(void);
int main(int, char** argv) {
  std::printf("%s %s\\n", name_of_success(), tilerail::load_topology(argv[1]).name().c_str());
  try {
    tilerail::Context context;
    const double a = 2, b = 3;
    double c = 0;
    tilerail::gemm(context, 'N', 'N', 1, 1, 1, 1.0, &a, 1, &b, 1, 0.0, &c, 1);
    std::printf("%g\\n", c);
  } catch (const tilerail::HardwareError& error) {
    std::printf("no hardware: %s\\n", error.what());
  }
}
"""
PART_IN_C = """
#include <tilerail/tilerail.h>
const char* name_of_success(void) { return tilerail_status_name(TILERAIL_SUCCESS); }
"""


def output(*command):
    """A command's output. If it fails, the exception contains its errors."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Package(unittest.TestCase):
    def test_is_found_linked_and_run_by_another_project(self):
        with tempfile.TemporaryDirectory(prefix="tilerail-package-") as name:
            folder = pathlib.Path(name)
            output("cmake", "--install", os.environ["BUILD"], "--prefix", folder / "installed")
            for file, text in {"CMakeLists.txt": PROJECT, "main.cpp": PROGRAM, "name.c": PART_IN_C}.items():
                (folder / file).write_text(text)
            output("cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}",
                   f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}", f"-DCMAKE_CXX_FLAGS={os.environ['CXXFLAGS']}")
            output("cmake", "--build", folder / "build")
            topology = folder / "installed/share/tilerail/topologies/two-gpu.toml"
            first, second, *others = output(folder / "build/consumer", topology).splitlines()
        self.assertEqual((first, others), ("TILERAIL_SUCCESS two-gpu", []))
        self.assertRegex(second, "^(6|no hardware: .+)$")


if __name__ == "__main__":
    unittest.main()
