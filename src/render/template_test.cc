// Placeholders: what they become, where, and what is said of those that cannot be filled in.
#include "render/template.h"

#include <gtest/gtest.h>

namespace sluice::rendering {
namespace template_test {

json::value values() {
  return json::parse(R"({"name":"petstore","n":3,"on":true,"tag":"1.10","none":null,"port":"8080",
      "image":{"repository":"nginx"},"hosts":["a.example",{"b":"c"}],"list":[1,2],"pw":{"$secret":"hunter2hunter2"}})");
}

Filled filled(const std::string& text) { return fill({{"a.yaml", text}}, values()); }

json::value one(const std::string& text) {
  Filled made = filled(text);
  EXPECT_EQ(to_string(made.faults), "");
  EXPECT_EQ(made.documents.size(), 1U);
  return made.documents.empty() ? json::value() : made.documents[0].root;
}

std::string faults(const std::string& text) { return to_string(filled(text).faults); }

TEST(Template, PathsDefaultsAndEscapes) {
  EXPECT_EQ(one("image: ${image.repository}:${image.tag:latest}\n"), json::parse(R"({"image":"nginx:latest"})"));
  EXPECT_EQ(one("a: ${x:}\nb: ${x:b:c}\nc: ${log.level:info}\n"), json::parse(R"({"a":"","b":"b:c","c":"info"})"));
  EXPECT_EQ(one("a: ${hosts[0]}\nb: ${hosts.0}\nc: ${hosts[1].b}\n"),
            json::parse(R"({"a":"a.example","b":"a.example","c":"c"})"));
  EXPECT_EQ(one("a: echo $${HOME} ${name}\n"), json::parse(R"({"a":"echo ${HOME} petstore"})"));
  EXPECT_EQ(one("a: cost is $5 {x}\n"), json::parse(R"({"a":"cost is $5 {x}"})"));
}

TEST(Template, AWholeScalarKeepsTheTypeOfItsValue) {
  EXPECT_EQ(one("a: ${n}\nb: ${on}\nc: ${port}\nd: ${replicas:1}\ne: x${n}\nf: ${ro:true}\n"),
            json::parse(R"({"a":3,"b":true,"c":"8080","d":1,"e":"x3","f":"true"})"));
  EXPECT_EQ(one("- ${n}\n- '${n}'\n"), json::parse(R"([3,"3"])"));
}

TEST(Template, TypesThatAreSaid) {
  EXPECT_EQ(
      one("a: ${port|int}\nb: ${ro|bool:true}\nc: ${list|json}\nd: ${n|string}\ne: ${x|json:[1]}\nf: x${list|json}\n"),
      json::parse(R"({"a":8080,"b":true,"c":[1,2],"d":"3","e":[1],"f":"x[1,2]"})"));
  EXPECT_EQ(faults("a: ${x|json:{}\n"), "a.yaml:1:4: the default of placeholder `x` is no JSON");
}

TEST(Template, QuotedTextAndBlocksAreStrings) {
  EXPECT_EQ(one("a: \"${n}\"\n'b': '${n}'\nc: |-\n  ${n}\n\"d\\\"\": >-\n  ${n}\ne: ${n} # no\nf:\n  ${n}\n"),
            json::parse(R"({"a":"3","b":"3","c":"3","d\"":"3","e":3,"f":3})"));
  EXPECT_EQ(one("a: !!str ${n}\nb: &x ${n}\nc: *x\n").at("c"), json::value("3"));
}

TEST(Template, WhatKubernetesWantsAsStringsIsOne) {
  const json::value made =
      one("metadata: {}\nspec:\n  template:\n    metadata:\n      labels:\n        version: ${tag}\n        n: ${n}\n"
          "    spec:\n      replicas: ${n}\n      containers:\n      - name: a\n        args:\n        - ${n}\n        "
          "env:\n"
          "        - name: PORT\n          value: ${p:8080}\n        ports:\n        - containerPort: ${n}\n"
          "data:\n  size: ${n}\n");
  EXPECT_EQ(made.at_pointer("/spec/template/metadata/labels"), json::parse(R"({"version":"1.10","n":"3"})"));
  EXPECT_EQ(made.at_pointer("/spec/template/spec/containers/0/args/0"), json::value("3"));
  EXPECT_EQ(made.at_pointer("/spec/template/spec/containers/0/env/0/value"), json::value("8080"));
  EXPECT_EQ(made.at_pointer("/spec/template/spec/containers/0/ports/0/containerPort"), json::value(3));
  EXPECT_EQ(made.at_pointer("/spec/template/spec/replicas"), json::value(3));
  EXPECT_EQ(made.at_pointer("/data/size"), json::value("3"));
}

TEST(Template, AllFaultsAreTold) {
  EXPECT_EQ(faults("a: ${gone}\nb: é ${also.gone} ${none}\nc: |\n  x\n  ${lost}\n"),
            "a.yaml:1:4: missing value for placeholder `gone`\n"
            "a.yaml:2:6: missing value for placeholder `also.gone`\n"
            "a.yaml:2:19: missing value for placeholder `none`\n"
            "a.yaml:5:3: missing value for placeholder `lost`");
  EXPECT_EQ(faults("a: ${none:d}\n"), "");
  EXPECT_EQ(faults("a: ${abc\n"), "a.yaml:1:4: this placeholder has no }");
  EXPECT_EQ(faults("a: ${image}\nb: x ${list}\n"),
            "a.yaml:1:4: placeholder `image` is a map; to have it as it is, write ${image|json}\n"
            "a.yaml:2:6: placeholder `list` is a list; to have it as it is, write ${list|json}");
  EXPECT_EQ(faults("a: ${n|float}\n"),
            "a.yaml:1:4: `float` is no type of a placeholder; write int, bool, json or string");
  EXPECT_EQ(faults("a: ${name|int}\nb: ${name|bool}\nc: ${}\n"),
            "a.yaml:1:4: placeholder `name` is to be an integer, and is a text\n"
            "a.yaml:2:4: placeholder `name` is to be true or false, and is a text\n"
            "a.yaml:3:4: this placeholder names no value");
  EXPECT_EQ(filled("a: [\n").faults.size(), 1U);
}

TEST(Template, AnAliasBombIsRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j ? ", *a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(filled(bomb).faults.size(), 1U);
}

TEST(Template, DocumentsInOrderWithoutEmptyOnes) {
  Filled made = fill({{"a.yaml", "a: 1\n---\n---\nb: 2\n"}, {"b.yaml", "c: 3\n"}}, json::object());
  ASSERT_EQ(made.documents.size(), 3U);
  EXPECT_EQ(made.documents[1].begin.line, 4U);
  EXPECT_EQ(made.documents[2].begin.file, "b.yaml");
}

TEST(Template, ASecretIsFilledInAndReported) {
  Filled made = filled("a: ${pw}\nb: x-${pw}\n");
  EXPECT_EQ(made.documents[0].root, json::parse(R"({"a":"hunter2hunter2","b":"x-hunter2hunter2"})"));
  EXPECT_EQ(made.secrets, (std::set<std::string>{"hunter2hunter2"}));
}

}  // namespace template_test
}  // namespace sluice::rendering
