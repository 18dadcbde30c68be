"""Deeply nested files, and values of a megabyte: a short line contains the error and its location."""

import itertools
import unittest

from support import SMALL, CommandTest

DEEP = 80_000
LONG = 1_000_000
READERS_OF_JSON = (
    ["run", "--backend", "host", "--plan", "f"],
    ["topo", "import", "--kernels", "two-gpu", "--nvbandwidth", "f"],
    ["calibrate", "--backend", "cuda", "-o", "out.toml", "--from", "f"],
)
READERS_OF_TOML = (
    ["topo", "validate", "f.toml"],
    ["plan", *SMALL[:-1], "f.toml"],
    ["topo", "new", "--gpus", "2", "--kernels", "f.toml"],
    ["tune", "--list", "f.toml"],
    ["plan", *SMALL, "--plan-cache", "f.toml"],
)


def in_turn(texts, readers):
    """Every text with one reader, and every reader with some text: the readers of a format share its parser."""
    return [(text, readers[i % len(readers)]) for i, text in enumerate(texts)]


IMPORT_XML = ["topo", "import", "--kernels", "two-gpu", "--nccl", "f"]


class HostileFiles(CommandTest):
    def assert_short(self, arguments, quoted):
        """Expects an error line of at most about 2,000 characters that contains `quoted`."""
        done = self.run_command(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr[:2000])
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr[:2000])
        self.assertLess(max(map(len, lines)), 2100)
        self.assertIn(quoted, lines[0])

    def test_json_is_nested_to_a_limit(self):
        cases = (("[" * DEEP, 101), ("[" * DEEP + "]" * DEEP, 101), ('{"k":' * DEEP, 501),
                 ('{"k":' * DEEP + "1" + "}" * DEEP, 501), ('{"ops": [' + "[" * DEEP, 108),
                 ('{"nvbandwidth": {"testcases": ' + "[" * DEEP, 129), ('[{"k":' * DEEP, 301))
        for (text, column), reader in in_turn(cases, READERS_OF_JSON):
            with self.subTest(text=text[:20], reader=reader):
                self.write("f", text)
                self.assert_short(reader, f"f:1:{column}: arrays and objects are nested too deep; expected at most 100 "
                                          "levels")

    def test_values_of_json_are_quoted_short(self):
        many = "7" * LONG
        invalid = (many, f"[{many}]", f'"{many}')
        fields = (f'{{"schema": {many}}}', f'{{"schema": "{many}"}}', f'{{"{many}": 1}}',
                  f'{{"schema": "{"a b " * (LONG // 4)}"}}', f'{{"schema": "{chr(92)}u0001{many}"}}',
                  f'{{"nvbandwidth": "{many}"}}', f'{{"nvbandwidth": {{"testcases": {{"{many}": [{many}]}}}}}}',
                  f'{{"schema": 1, "name": {{"{many}": 1, "{many}": 2}}}}', f'{{"schema": "{many}{chr(10)}"}}')
        for text, reader in [*in_turn(invalid, READERS_OF_JSON), *itertools.product(fields, READERS_OF_JSON)]:
            with self.subTest(text=text[:30], reader=reader):
                self.write("f", text)
                self.assert_short(reader, "error: f:")

    def test_elements_of_xml_are_nested_to_a_limit(self):
        for text in ("<a>", '<a x="/>">', "<a><![CDATA[/>]]>", "<a><!--/>-->", "<a x='/>'>", "<a><?x /> ?>", "<a>/>"):
            with self.subTest(text):
                self.write("f", "<system>" + text * (DEEP // 2) + "</a>" * (DEEP // 2) + "</system>")
                self.assert_short(IMPORT_XML, "' is in more than 200 others; expected fewer")
                self.write("f", text * (DEEP // 2))
                self.assert_short(IMPORT_XML, "f:1: Start-end tags mismatch; expected XML")

    def test_values_of_xml_are_quoted_short(self):
        many = "x" * LONG
        for text in (f"<{many}", f"<{many}/>", f"<system><{many}/></system>", f'<system><cpu numaid="{many}"/></system>',
                     f'<system><cpu numaid="0"><pci busid="{many}"><gpu dev="{many}"/></pci></cpu></system>',
                     f'<system><cpu numaid="0"><pci busid="1" link_speed="{many}" link_width="{many}"><gpu dev="0"/></pci>'
                     "</cpu></system>", f"<system x='&{many};'/>", f"<!DOCTYPE {many}>"):
            with self.subTest(text[:40]):
                self.write("f", text)
                self.assert_short(IMPORT_XML, "error: f:")

    def test_toml_is_nested_to_a_limit(self):
        texts = ("a = " + "[" * DEEP, "a = " + "[" * DEEP + "]" * DEEP, "a = " + "{ b = " * DEEP,
                 "a = " + "{ b = " * DEEP + "1" + "}" * DEEP, "a" + ".a" * DEEP + " = 1", "[a" + ".a" * DEEP + "]",
                 "[[a" + ".a" * DEEP + "]]", "a = " + "[{ b = " * DEEP, "a = { b" + ".b" * DEEP + " = 1 }",
                 'a = """' + "\n" * 9 + '"""\nb' + ' . "b"' * DEEP + " = 1")
        for text, reader in in_turn(texts, READERS_OF_TOML):
            with self.subTest(text=text[:20], reader=reader):
                self.write("f.toml", text + "\n")
                self.assert_short(reader, "f.toml:1")

    def test_values_of_toml_are_quoted_short(self):
        many = "7" * LONG
        fields = (f"schema = {many}", f'schema = "{many}"', f'"{many}" = 1')
        others = (f"{many} = 1", f'schema = "{many}', f'schema = """{many}\n{many}"""', f"schema = {many}.5",
                  f"schema = 'a{' b' * (LONG // 2)}'", f'name = "{many}"\nschema = 1\n[sources]\n{many} = 1',
                  f'schema = "{chr(92)}u0007{many}"')
        for text, reader in [*itertools.product(fields, READERS_OF_TOML), *in_turn(others, READERS_OF_TOML)]:
            with self.subTest(text=text[:20], reader=reader):
                self.write("f.toml", text + "\n")
                self.assert_short(reader, "f.toml:")

    def test_values_of_settings_are_quoted_short_and_nested_to_a_limit(self):
        long = 100_000  # arguments are limited to 128 KiB
        for value in ("7" * long, "[" * long, "{ a = " * (long // 6), "1\na" + ".a" * (long // 2) + " = 1", "a b " * (long // 4),
                      "\n" * long, "[1, " * (long // 4)):
            with self.subTest(value[:20]):
                self.assert_short(["topo", "show", "two-gpu", "--topo-set", f"group:host memory.capacity={value}"],
                                  "error: --topo-set")
                self.assert_short(["topo", "show", "two-gpu", "--topo-set", value], "error: --topo-set")

    def test_arguments_are_quoted_short(self):
        problem = {"--gemm": "64", "--topology": "two-gpu"}
        options = ("--gemm", "--topology", "--devices", "--place", "--policy", "--tile", "--set", "--dtype", "--alpha",
                   "--transa", "--topo-set", "--gemv", "--lda", "--plan-cache", "-o", "--no-such", "more")
        number, *others = ("7" * 100_000, "x" * 100_000, "a b," * 25_000, "line\n" * 20_000, "\x01" * 100_000, "\xe9" * 50_000)
        cases = [*itertools.product(options, [number]),
                 *((option, others[i % len(others)]) for i, option in enumerate(options))]
        for option, long in cases:
            given = {**problem, option: long}
            if option == "--gemv":
                del given["--gemm"]
            with self.subTest(option=option, long=long[:5]):
                self.assert_short(["plan", *(word for pair in given.items() for word in pair)], "tilerail: error: ")
        self.assert_short(["x" * 100_000], "'xxx")

    def test_cells_are_quoted_short(self):
        many = "7" * LONG
        for text in (f"{many}\n", f"m,n,k\n{many},1,1\n", f"m,n,k,policy\n1,1,1,{many}\n", f"m,n,k\n1,1,1,{many}\n",
                     f'm,n,k,label\n1,1,"1{many}",x\n', f"m,n,k,set\n1,1,1,{'a b ' * (LONG // 4)}\n", f"m,n,k,place\n1,1,1,{many}\n"):
            self.write("cases.csv", text)
            with self.subTest(text[:30]):
                self.assert_short(["compare", "--cases", "cases.csv", "--backend", "host", "--topology", "two-gpu"],
                                  "error: cases.csv:")
        self.write("t.csv", many + "\n")
        self.assert_short(["compare", "t.csv", "t.csv"], "error: t.csv")
        self.assert_short(["topo", "import", "--kernels", "two-gpu", "--nvidia-smi", "t.csv"], "error: t.csv")


if __name__ == "__main__":
    unittest.main()
