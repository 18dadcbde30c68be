"""The rules of scripts/structure: this source obeys them, and each violation is found."""

import contextlib
import html
import io
import os
import pathlib
import re
import runpy
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["TILERAIL_SOURCE"])
HOUSE = SOURCE / "docs/figures/house.svg"
STRUCTURE = str(SOURCE / "scripts/structure")
sys.path.insert(0, STRUCTURE)

import functions  # noqa: E402
import includes  # noqa: E402
import rooms  # noqa: E402

check = runpy.run_path(STRUCTURE)["main"]


def faults(root):
    """The script's faults below `root`."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = check(root)
    found = [line.removeprefix("fault").strip() for line in printed.getvalue().splitlines() if line.startswith("fault")]
    assert code == bool(found)
    return found


class ThisSource(unittest.TestCase):
    def test_keeps_every_rule(self):
        self.assertEqual(faults(SOURCE), [])

    def test_is_drawn_as_it_is_built(self):
        drawn = re.search(r"<dc:description>(.*?)</dc:description>", HOUSE.read_text())
        links = rooms.House(SOURCE).links()
        built = {f"{room} > {other}" for room in links for other in links[room]}
        self.assertEqual(set(html.unescape(drawn[1]).removeprefix("links: ").split(", ")), built,
                         "python3 docs/figures/house.py draws the house as it is now")

    def test_is_drawn_with_each_room_in_a_place_of_its_own(self):
        boxes = re.findall(r'<path d="([^"]*)"[^>]*fill: #dce6f2', HOUSE.read_text())
        self.assertEqual(len(boxes), len(rooms.House(SOURCE).links()))
        self.assertEqual(len(set(boxes)), len(boxes))


class AHouseOfTwoRooms(unittest.TestCase):
    """`upper` links `lower`; every file has 60 lines."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tilerail-structure-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("lower/CMakeLists.txt", "tilerail_library(lower Boost::headers)\n")
        self.write("upper/CMakeLists.txt", "tilerail_library(upper tilerail::lower)\n")
        self.write("lower/low.hpp", "\n" * 60)
        self.write("upper/up.hpp", '#include "lower/low.hpp"\n' + "\n" * 59)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def test_is_in_order(self):
        self.assertEqual(faults(self.root), [])

    def test_must_not_include_upwards(self):
        self.write("lower/low.hpp", '#include "upper/up.hpp"\n' + "\n" * 59)
        wrong = faults(self.root)
        self.assertIn("lower/low.hpp: includes upper/up.hpp, but lower links no room", wrong)
        self.assertIn("a circle of files: lower/low.hpp -> upper/up.hpp -> lower/low.hpp", wrong)

    def test_must_not_link_upwards(self):
        self.write("lower/CMakeLists.txt", "tilerail_library(lower tilerail::upper)\n")
        self.assertEqual(faults(self.root), ["a circle of rooms: lower -> upper -> lower"])

    def test_must_not_include_what_is_linked_privately_below(self):
        self.write("top/CMakeLists.txt", "tilerail_library(top tilerail::upper)\n")
        self.write("top/top.hpp", '#include "lower/low.hpp"\n' + "\n" * 59)
        self.assertEqual(faults(self.root), [])
        self.write("upper/CMakeLists.txt", "target_link_libraries(tilerail_upper PRIVATE tilerail::lower)\n")
        self.assertEqual(faults(self.root), ["top/top.hpp: includes lower/low.hpp, but top links upper"])

    def test_may_have_rooms_of_headers(self):
        self.write("upper/CMakeLists.txt", "tilerail_room(tilerail_up upper/up.hpp upper/other.hpp)\n")
        self.write("upper/other.hpp", "\n" * 60)
        self.write("upper/up.cpp", '#include "upper/other.hpp"\n' + "\n" * 59)
        self.assertEqual(faults(self.root), ["upper/up.hpp: includes lower/low.hpp, but upper/up.hpp links no room"])

    def test_must_not_go_around_the_include_paths(self):
        self.write("lower/low.hpp", '#include "../upper/up.hpp"\n' + "\n" * 59)
        self.assertEqual(faults(self.root), ['lower/low.hpp: "../upper/up.hpp" is not a path from the root'])

    def test_must_not_name_options_outside_of_the_command(self):
        self.write("cli/place.cpp", 'add("-p,--place");' + "\n" * 60)
        self.write("lower/low.hpp", '"a larger --places, or \'tool --place\'" // --place' + "\n" * 60)
        self.assertEqual(faults(self.root), [])
        self.write("lower/low.hpp", '"a larger --place"' + "\n" * 60)
        self.assertEqual(faults(self.root), ["lower/low.hpp: names the option --place of the command"])

    def test_must_not_join_a_problem_and_the_expected_value(self):
        text = '"unknown; expected"' + "\n" * 60
        self.write("tests/test.cpp", text)
        self.write("lower/low.hpp", "// " + text)
        self.assertEqual(faults(self.root), [])
        self.write("lower/low.hpp", text.replace(" ", ' "\n  "'))
        self.assertEqual(faults(self.root), ["lower/low.hpp: writes '; expected' into a message, not into the field of InputError"])

    def test_must_not_have_long_files(self):
        self.write("lower/low.hpp", "\n" * 601)
        self.assertEqual(faults(self.root), ["lower/low.hpp: 601 lines, more than 600"])

    def test_must_not_have_long_functions(self):
        self.write("upper/up.hpp", "int up() {\n" + "\n" * 49 + "}\n" + "\n" * 10)
        self.assertEqual(faults(self.root), ["upper/up.hpp up: 51 lines at line 1, more than 50"])

    def test_must_not_have_wide_pages_but_addresses_and_tables(self):
        self.write("lower/page.md", "x" * 121 + "\n" + "word " * 24 + "x\n| " + "cell | " * 20 + "\n")
        self.assertEqual(faults(self.root), ["lower/page.md:2: 121 columns, more than 120"])

    def test_must_not_link_pages_or_sections_that_are_not_there(self):
        page = "docs/page.md"
        self.write(page, "# A `title`, and more\n[here](#a-title-and-more) [gone](other.md) [lost](#title)\n")
        self.write("upper/up.hpp", f"// {page}#a-title-and-more, {page}#nowhere\n" + "\n" * 59)
        self.assertEqual(faults(self.root), [
            f"{page}: links docs/other.md, which does not exist",
            f"{page}: links {page}#title, which has no such section",
            f"upper/up.hpp: links {page}#nowhere, which has no such section",
        ])

    def test_must_have_a_glossary_in_order(self):
        self.write("docs/glossary.md", "* **arena**: memory\n* **tile**: a part\n* **Queue**: a line\n")
        self.assertEqual(faults(self.root), ["docs/glossary.md: 'tile' stands before 'Queue'"])


class FunctionsOfCpp(unittest.TestCase):
    """Functions are detected without a compiler."""

    def assert_functions(self, text, *expected):
        self.assertEqual([(name, lines) for name, _, lines in functions.cpp_functions(text)], list(expected))

    def test_are_those_with_a_body(self):
        self.assert_functions("int f();\nint g() {\n  return 1;\n}\n", ("g", 3))

    def test_have_excuses_only_where_they_are_long(self):
        bodies = {pathlib.Path("a.cpp"): [("short", 1, 9), ("long", 10, 99)]}
        self.assertEqual(functions.faults(bodies, {"a.cpp long": "why", "b.cpp gone": "why"}), [])
        self.assertEqual(functions.faults(bodies, {"a.cpp long": "why", "a.cpp short": "why"}),
                         ["a.cpp short: has an unnecessary exception"])

    def test_stand_in_classes_and_namespaces(self):
        self.assert_functions("namespace n {\nclass A : public B<C> {\n public:\n  int f() const {\n  }\n};\n}\n", ("f", 2))

    def test_include_their_lambdas_and_not_those_of_others(self):
        self.assert_functions("void f() {\n  auto g = [](int i) {\n    return i;\n  };\n}\nvoid h() {}\n", ("f", 5), ("h", 1))

    def test_have_initialisers_with_braces(self):
        self.assert_functions("A::A(int x) : a_{x}, b_(x) {\n}\nint z{3};\nB b = {1, 2};\n", ("A::A", 2))

    def test_may_hold_braces_in_texts(self):
        self.assert_functions('void f() {\n  g("}", \'}\', 1\'000);  // }\n  h(R"(}\n)");\n}\n', ("f", 5))

    def test_may_be_operators_and_templates(self):
        text = "template <class T = int>\nbool operator==(T a, T b) {\n}\nauto f() -> std::vector<int> {\n}\n"
        self.assert_functions(text, ("operator==", 3), ("f", 2))


class Graphs(unittest.TestCase):
    def test_a_circle_is_named_in_order(self):
        self.assertEqual(includes.circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])
        self.assertEqual(includes.circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}), [])

    def test_folders_of_a_room_include_each_other_by_their_files(self):
        headers = {"a/x/1": {"a/y/2", "b/z/3"}, "a/y/2": {"a/y/4"}, "a/y/4": {"a/5"}, "a/5": {"a/x/1"}, "b/z/3": set()}
        self.assertEqual(includes.of_folders(headers, "a"), {"a/x": {"a/y"}, "a/y": {"a"}, "a": {"a/x"}})

    def test_what_is_linked_indirectly_may_be_included(self):
        links = {"a": {"b"}, "b": {"c"}, "c": set(), "d": {"a"}}
        self.assertEqual(rooms.below(links, "a"), {"b", "c"})


if __name__ == "__main__":
    unittest.main()
