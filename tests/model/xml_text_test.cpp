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
  expect_input_error([&] { parsed_xml(xml, "n.xml"); }, {message});
}

/// Of the one element of the text.
std::string attribute_of(const std::string& xml, const std::string& name) {
  return attribute(parsed_xml(xml, "n.xml").front().second, name);
}

TEST(Xml, ElementsHaveTheirLinesAndAttributes) {
  const XmlTree tree = parsed_xml(
      "\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- < <b> -->\n<a x=\"1\"\n y = '2 > 1'>\n text &amp;"
      "<![CDATA[ </a> /> ]]>\n<b/><b.c\n/> <!----> </a >\n<?end?>\n",
      "n.xml");
  ASSERT_EQ(tree.size(), 1u);
  const auto& [name, a] = tree.front();
  EXPECT_EQ(name, "a");
  EXPECT_EQ(place_of(a, "n.xml"), "n.xml:3: ");
  EXPECT_EQ(attribute(a, "x"), "1");
  EXPECT_EQ(attribute(a, "y"), "2 > 1");
  EXPECT_EQ(attribute(a, "z"), "");
  EXPECT_EQ(a.count("b"), 1u);
  EXPECT_EQ(a.count("b.c"), 1u);
  EXPECT_EQ(place_of(a.back().second, "n.xml"), "n.xml:6: ");
}

TEST(Xml, AttributesMayHoldMarkup) {
  EXPECT_EQ(attribute_of("<a x=\"/>\"/>", "x"), "/>");
  EXPECT_EQ(attribute_of("<a x='\"-->]]>'></a>", "x"), "\"-->]]>");
  EXPECT_EQ(attribute_of("<a x='&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#xe9;'/>", "x"), "<>&\"'AB\xC3\xA9");
}

TEST(Xml, ElementsMayBeNestedToALimit) {
  EXPECT_EQ(parsed_xml(repeated("<a>", 200) + repeated("</a>", 200), "n.xml").size(), 1u);
  for (const char* open : {"<a>", "<a x=\"/>\">", "<a x='/>'>", "<a><![CDATA[/>]]>", "<a><![CDATA[</a>]]>",
                           "<a><!--/>-->", "<a><!-- </a> -->", "<a><?x /> ?>", "<a>/>", "<a>text"})
    for (const int depth : {201, 40'000, 400'000})
      refused(repeated(open, depth), "n.xml:1: elements in more than 200 others; expected fewer");
  refused(repeated("<a>\n", 300), "n.xml:201: elements in more than 200 others");
  EXPECT_EQ(parsed_xml("<a>" + repeated("<!-- <b> --><![CDATA[<b>]]><?b <b>?>", 1000) + "</a>", "n.xml").size(), 1u);
  refused("<a>" + repeated("<b/>", 200'000) + "</a>", "n.xml:1: more than 200000 elements; expected fewer");
}

TEST(Xml, RefusesWhatIsNotXmlWithItsLine) {
  for (const auto& [xml, message] :
       {std::pair{"", "n.xml:1: there is no element; expected XML"},
        {"<!-- -->", "n.xml:1: there is no element"},
        {"\ntext", "n.xml:2: there is text outside of the elements"},
        {"<a/>\ntext", "n.xml:2: there is text outside of the elements"},
        {"<a>\n<b>\n", "n.xml:3: the file ends in element 'b' of line 2"},
        {"<a>\n</b>", "n.xml:2: element 'b' ends, which is not the innermost"},
        {"</a>", "n.xml:1: element 'a' ends, which is not the innermost"},
        {"<a/>\n<b/>", "n.xml:2: element 'b' is behind the outermost"},
        {"<a\nx", "n.xml:2: attribute 'x' has no value"},
        {"<a x=1/>", "attribute 'x' has no value in quotes"},
        {"<a x=\"1/>", "attribute 'x' has no value in quotes"},
        {"<a x='1'y='1'/>", "there is no blank before an attribute"},
        {"<a x='1' x='2'/>", "attribute 'x' is there twice"},
        {"<a x='<'/>", "attribute 'x' holds '<'"},
        {"<a x='&nbsp;'/>", "attribute 'x' holds '&nbsp', which is not known"},
        {"<a x='&lt'/>", "attribute 'x' holds '&lt', which is not known"},
        {"<a x='&#0;'/>", "attribute 'x' holds '&#0', which is not known"},
        {"<a x='&#x110000;'/>", "attribute 'x' holds '&#x110000', which is not known"},
        {"<a", "n.xml:1: the file ends in the tag of element 'a'"},
        {"< a/>", "the name of an element is missing"},
        {"<a></a", "the end of element 'a' has no '>'"},
        {"<!-- ", "the comment has no end"},
        {"<a><![CDATA[ ]]", "the CDATA section has no end"},
        {"<?xml", "the instruction has no end"},
        {"<![CDATA[x]]><a/>", "a declaration such as DOCTYPE is not read"},
        {"<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", "n.xml:1: a declaration such as DOCTYPE is not read"}})
    refused(xml, message);
}

TEST(Xml, WhatIsQuotedIsShort) {
  const std::string many(1'000'000, 'x');
  for (const std::string& xml :
       {"<" + many, "<a " + many, "</" + many + ">", "<a x='&" + many + ";'/>", "<" + many + ">"})
    try {
      parsed_xml(xml, "n.xml");
      FAIL();
    } catch (const InputError& error) {
      EXPECT_LT(std::string{error.what()}.size(), 300u) << xml.substr(0, 10);
    }
}

}  // namespace
}  // namespace tilerail
