// Every text that cannot be read says where and why, in one line, and what to do about it.
#include "base/yaml_fault.h"

#include <gtest/gtest.h>

#include "base/yaml.h"

namespace sluice {
namespace yaml_fault_test {

using namespace std::string_literals;

// "position: message | next"
std::string refusal(const std::string& text) {
  auto documents = parse_yaml_stream(text, "x.yaml");
  if (documents) return "no error";
  EXPECT_EQ(documents.error().code, Code::invalid);
  return to_string(documents.error()) + " | " + documents.error().next;
}

struct Row {
  const char* text;
  const char* said;
};

TEST(YamlFault, SaysThatAKeyIsTooLong) {
  const std::string key(2'000, 'k');
  const std::string said = "a key has at most 1,024 characters | shorten it";
  EXPECT_EQ(refusal(key + ": 1\n"), "x.yaml:1:1: " + said);
  EXPECT_EQ(refusal("a: 1\n" + key + ": 1\nb: 2\n"), "x.yaml:2:1: " + said);
  EXPECT_EQ(refusal("a:\n  " + key + ":\n    b: 1\n"), "x.yaml:2:3: " + said);
  EXPECT_EQ(refusal("a: { " + key + ": 1 }\n"), "x.yaml:1:6: " + said);
  EXPECT_EQ(refusal("a:\n  \"" + key + "\": 1\n"), "x.yaml:2:3: " + said);
  EXPECT_EQ(refusal("a: 1\n" + key + "\nb: 2\n").find(said), std::string::npos);
}

TEST(YamlFault, SaysWhatIsWrongWithTheSyntax) {
  const Row rows[] = {
      {"a: b: c",
       "1:5: a ':' stands where no key can be | quote a value that contains ': ', and indent keys of one map "
       "alike"},
      {"a: - b",
       "1:4: a '-' stands where no list item can begin | begin the list on its own line, and quote a value "
       "that begins with '- '"},
      {"a: ? b", "1:4: a '?' stands where no key can begin | quote a value that begins with '? '"},
      {"a: 1\nword\nb: 2",
       "2:1: this line has no ':' after its key | write 'key: value'; a longer text needs quotes, "
       "'|' or '>' or deeper indentation"},
      {"a: 'open\nb: 1", "1:4: this quoted string is never closed | close it with the quote that it began with"},
      {"a: \"open\n---\n",
       "1:4: this quoted string is not closed before the document ends | close it, or indent the "
       "'---' inside it"},
      {"a: \"\\q\"",
       "1:5: this escape is unknown in double quotes | write a backslash as '\\\\', or use single quotes"},
      {"a: \"\\xZZ\"", "1:7: this escape needs hexadecimal digits | write \\xHH, \\uHHHH or \\UHHHHHHHH"},
      {"a: \"\\ud83d\\ude00\"",
       "1:7: this escape is not a Unicode character | write characters beyond U+FFFF as "
       "\\UHHHHHHHH, not as two surrogates"},
      {"a:\n\tb: 1", "2:1: a tab is used for indentation | use spaces"},
      {"a: |\n\tb", "2:1: a tab is used for indentation | use spaces"},
      {"a: 'x\n\ty'\nb: |\n \n\tx\n", "5:1: a tab is used for indentation | use spaces"},
      {"a: @b", "1:4: a value cannot begin with '@' or '`' | quote it"},
      {"a: %b", "1:4: a value cannot begin with '%' | quote it"},
      {"a: | text\n",
       "1:6: text follows the '|' or '>' of a block scalar on its line | begin the text on the next "
       "line, indented"},
      {"a: |0\n", "1:5: a block scalar cannot be indented by 0 | use an indicator from 1 to 9, or none"},
      {"a: *", "1:5: a '*' must be followed by the name of an anchor | quote a value that begins with '*'"},
      {"a: & b",
       "1:5: a '&' must be followed by a name of letters, digits, '-' and '_' | quote a value that begins "
       "with '&'"},
      {"a: !<x", "1:7: this tag is not well formed | close the tag with '>'"},
      {"a: !<> x", "1:6: this tag is not well formed | quote a value that begins with '!'"},
      {"a: !!str,x y", "1:9: this tag is not well formed | quote a value that begins with '!'"},
      {"a: 1\n...\nb: 1\n",
       "3:1: text follows the end of the document | check the indentation, or begin another "
       "document with '---'"},
      {"[a, ,]", "1:5: a value is missing here | write a value, or null"},
      {"- a\nb: 1",
       "2:1: this line does not belong to the list above it | begin list items with '- ' at one "
       "indentation"},
      {"a: 1\n  b: 2",
       "2:4: a ':' stands where no key can be | quote a value that contains ': ', and indent keys of "
       "one map alike"},
      {"a: 'x' y",
       "1:8: this line does not belong to the map around it | indent the keys of one map alike, and quote "
       "a value that continues after its closing quote"},
      {"a: [1, 2\nb: 3\n",
       "1:4: the list that '[' begins is not closed | separate its items with ',' and close it with "
       "']'"},
      {"a: {b: 1\n",
       "1:4: the map that '{' begins is not closed | separate its members with ',' and close it with '}'"},
      {"%YAML 2.0\n--- a", "1:1: this version of YAML is not known | write %YAML 1.2, or leave it out"},
      {"%YAML 1.2\n%YAML 1.2\n--- a", "2:1: a second %YAML line | remove it"},
      {"%TAG ! x\n%TAG ! y\n--- a", "2:1: a second %TAG line for the same prefix | remove it"},
      {"[a:]", "1:3: a ':' ends a plain value inside '[' or '{' | quote the value"},
      {"%a: b",
       "1:3: a line that begins with '%' is a directive, and this one is not well formed | quote a key or value that "
       "begins with '%'"},
      {"%NOPE\n--- a",
       "1:6: a line that begins with '%' is a directive, and this one is unknown | only %YAML and %TAG "
       "are known; quote a value that begins with '%'"},
  };
  for (const Row& row : rows) EXPECT_EQ(refusal(row.text), "x.yaml:"s + row.said) << row.text;
}

}  // namespace yaml_fault_test
}  // namespace sluice
