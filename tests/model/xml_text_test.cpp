// The subset of XML in machine descriptions; other texts are rejected with their line.
#include "model/import/nccl_elements.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

void refused_xml(const std::string& xml, const std::string& message) {
  expect_input_error([&] { XmlFile(xml, "n.xml"); }, {message});
}

/// The attribute of the single element of the text.
std::string attribute_of(const std::string& xml, const char* name) {
  return attribute(XmlFile{xml, "n.xml"}.root(), name);
}

TEST(Xml, ElementsHaveTheirLinesAndAttributes) {
  const XmlFile file{
      "\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- < <b> -->\n<a x=\"1\"\n y = '2 > 1'>\n "
      "text &amp;"
      "<![CDATA[ </a> /> ]]>\n<b/><b.c\n/> <!----> </a >\n<?end?>\n",
      "n.xml"};
  const pugi::xml_node a = file.root();
  EXPECT_STREQ(a.name(), "a");
  EXPECT_EQ(file.line_of(a), 3U);
  EXPECT_EQ(attribute(a, "x"), "1");
  EXPECT_EQ(attribute(a, "y"), "2 > 1");
  EXPECT_EQ(attribute(a, "z"), "");
  EXPECT_EQ(file.line_of(a.child("b")), 6U);
  EXPECT_EQ(file.line_of(a.child("b.c")), 6U);
  expect_input_error([&] { file.fail(a.child("b"), fault_of("", "is bad", "good")); },
                     {"n.xml:6: b: is bad; expected good"});
}

TEST(Xml, LinesMatchTheFileInAnyEncodingAndLineEnds) {
  for (const char* begin :
       {"", "\xEF\xBB\xBF", "<?xml version='1.0' encoding='latin1'?>"}) {
    const std::string text =
        std::string{begin} + "<a x='\xC3\xA9&amp;&amp;\r\n'>\r\n<b/></a>";
    const XmlFile file{text, "n.xml"};
    EXPECT_EQ(file.line_of(file.root()), 1U) << begin;
    EXPECT_EQ(file.line_of(file.root().child("b")), 3U) << begin;
  }
}

TEST(Xml, AttributesCanContainMarkup) {
  EXPECT_EQ(attribute_of("<a x=\"/>\"/>", "x"), "/>");
  EXPECT_EQ(attribute_of("<a x='\"-->]]>'></a>", "x"), "\"-->]]>");
  EXPECT_EQ(attribute_of("<a x='&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#xe9;'/>", "x"),
            "<>&\"'AB\xC3\xA9");
  EXPECT_EQ(attribute_of("<a x='&nbsp;&lt'/>", "x"), "&nbsp;&lt");
}

TEST(Xml, RefusesInvalidXmlWithTheLine) {
  for (const auto& [xml, message] :
       {std::pair{"", "n.xml:1: No document element found; expected XML"},
        {"<!-- -->", "n.xml:1: No document element found"},
        {"\ntext", "n.xml:2: No document element found"},
        {"<a>\n<b>\n", "n.xml:2: Start-end tags mismatch; expected XML"},
        {"<a>\n</b>", "n.xml:2: Start-end tags mismatch"},
        {"</a>", "n.xml:1: Start-end tags mismatch"},
        {"<a\nx", "n.xml:2: Error parsing element attribute"},
        {"<a x=1/>", "Error parsing element attribute"},
        {"<a x=\"1/>", "Error parsing element attribute"},
        {"<a x='1'y='1'/>", "Error parsing element attribute"},
        {"<a", "n.xml:1: Error parsing start element tag"},
        {"< a/>", "Could not determine tag type"},
        {"<a></a", "Error parsing end element tag"},
        {"<!-- ", "Error parsing comment"},
        {"<a><![CDATA[ ]]", "Error parsing CDATA section"},
        {"<?xml", "Error parsing document declaration/processing instruction"}})
    refused_xml(xml, message);
}

}  // namespace
}  // namespace tilerail
