// XML as far as machines are described in it; everything else is refused with its line.
#include "model/import/xml_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

void refused(const std::string& xml, const std::string& message) {
  expect_input_error([&] { XmlFile(xml, "n.xml"); }, {message});
}

/// Of the one element of the text.
std::string attribute_of(const std::string& xml, const char* name) {
  return attribute(XmlFile{xml, "n.xml"}.root(), name);
}

TEST(Xml, ElementsHaveTheirLinesAndAttributes) {
  const XmlFile file{
      "\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- < <b> -->\n<a x=\"1\"\n y = '2 > 1'>\n text &amp;"
      "<![CDATA[ </a> /> ]]>\n<b/><b.c\n/> <!----> </a >\n<?end?>\n",
      "n.xml"};
  const pugi::xml_node a = file.root();
  EXPECT_STREQ(a.name(), "a");
  EXPECT_EQ(file.line_of(a), 3);
  EXPECT_EQ(attribute(a, "x"), "1");
  EXPECT_EQ(attribute(a, "y"), "2 > 1");
  EXPECT_EQ(attribute(a, "z"), "");
  EXPECT_EQ(count(a, "b"), 1);
  EXPECT_EQ(count(a, "b.c"), 1);
  EXPECT_EQ(file.line_of(a.child("b")), 6);
  EXPECT_EQ(file.line_of(a.child("b.c")), 6);
  expect_input_error([&] { file.fail(a.child("b"), "said"); }, {"n.xml:6: said"});
}

TEST(Xml, LinesAreThoseOfTheFileWhateverItsEncodingAndEnds) {
  for (const char* begin : {"", "\xEF\xBB\xBF", "<?xml version='1.0' encoding='latin1'?>"}) {
    const XmlFile file{std::string{begin} + "<a x='\xC3\xA9&amp;&amp;\r\n'>\r\n<b/></a>", "n.xml"};
    EXPECT_EQ(file.line_of(file.root()), 1) << begin;
    EXPECT_EQ(file.line_of(file.root().child("b")), 3) << begin;
  }
}

TEST(Xml, AttributesMayHoldMarkup) {
  EXPECT_EQ(attribute_of("<a x=\"/>\"/>", "x"), "/>");
  EXPECT_EQ(attribute_of("<a x='\"-->]]>'></a>", "x"), "\"-->]]>");
  EXPECT_EQ(attribute_of("<a x='&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#xe9;'/>", "x"), "<>&\"'AB\xC3\xA9");
  EXPECT_EQ(attribute_of("<a x='&nbsp;&lt'/>", "x"), "&nbsp;&lt");
}

TEST(Xml, ElementsMayBeNestedToALimit) {
  EXPECT_NO_THROW(XmlFile(repeated("<a>", 200) + repeated("</a>", 200), "n.xml"));
  for (const char* open : {"<a>", "<a x=\"/>\">", "<a x='/>'>", "<a><![CDATA[/>]]>", "<a><![CDATA[</a>]]>",
                           "<a><!--/>-->", "<a><!-- </a> -->", "<a><?x /> ?>", "<a>/>", "<a>text"})
    for (const int depth : {201, 40'000, 400'000})
      refused(repeated(open, depth), "n.xml:1: elements in more than 200 others; expected fewer");
  refused(repeated("<a>\n", 300), "n.xml:201: elements in more than 200 others");
  EXPECT_NO_THROW(XmlFile("<a>" + repeated("<!-- <b> --><![CDATA[<b>]]><?b <b>?>", 1000) + "</a>", "n.xml"));
  refused("<a>" + repeated("<b/>", 200'000) + "</a>", "n.xml:1: more than 200000 elements; expected fewer");
}

TEST(Xml, RefusesWhatIsNotXmlWithItsLine) {
  for (const auto& [xml, message] : {std::pair{"", "n.xml:1: there is no element; expected XML"},
                                     {"<!-- -->", "n.xml:1: there is no element"},
                                     {"\ntext", "n.xml:2: there is text outside of the elements"},
                                     {"<a/>\ntext", "n.xml:2: there is text outside of the elements"},
                                     {"<a>\n<b>\n", "n.xml:2: Start-end tags mismatch; expected XML"},
                                     {"<a>\n</b>", "n.xml:2: Start-end tags mismatch"},
                                     {"</a>", "n.xml:1: Start-end tags mismatch"},
                                     {"<a/>\n<b/>", "n.xml:2: element 'b' is behind the outermost"},
                                     {"<a\nx", "n.xml:2: Error parsing element attribute"},
                                     {"<a x=1/>", "Error parsing element attribute"},
                                     {"<a x=\"1/>", "Error parsing element attribute"},
                                     {"<a x='1'y='1'/>", "Error parsing element attribute"},
                                     {"<a x='1' x='2'/>", "n.xml:1: 'a': attribute 'x' is there twice"},
                                     {"<a", "n.xml:1: Error parsing start element tag"},
                                     {"< a/>", "Could not determine tag type"},
                                     {"<a></a", "Error parsing end element tag"},
                                     {"<!-- ", "Error parsing comment"},
                                     {"<a><![CDATA[ ]]", "Error parsing CDATA section"},
                                     {"<?xml", "Error parsing document declaration/processing instruction"},
                                     {"<![CDATA[x]]><a/>", "n.xml:1: there is text outside of the elements"},
                                     {"<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", "n.xml:1: a DOCTYPE is not read"}})
    refused(xml, message);
}

TEST(Xml, RefusesAByteOfZero) {
  for (const char* begin : {"<a>", "<a/>", "<a", "<a x='"}) {
    std::string xml = begin;
    xml.insert(xml.end(), {'\0'});
    refused("<!--\n-->" + xml + "'></a>", "n.xml:2: a byte is 0; expected XML");
  }
}

TEST(Xml, WhatIsQuotedIsShort) {
  const std::string many(1'000'000, 'x');
  for (const std::string& xml :
       {"<" + many, "<a " + many, "</" + many + ">", "<a " + many + "='' " + many + "=''/>", "<" + many + ">"})
    try {
      XmlFile(xml, "n.xml");
      FAIL() << xml.substr(0, 10);
    } catch (const InputError& error) {
      EXPECT_LT(std::string{error.what()}.size(), 300u) << xml.substr(0, 10);
    }
}

}  // namespace
}  // namespace tilerail
