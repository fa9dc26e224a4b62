// Names and labels stay with whom they were given to.
#include "mesh/ledger.h"

#include <gtest/gtest.h>

#include "mesh/artifact.h"

namespace sluice::mesh {
namespace ledger_test {

TEST(Ledger, ReadsBackWhatItWrote) {
  Ledger ledger;
  ledger.links["a/x b/y"] = {.a_name = "b", .b_name = "a"};
  EXPECT_EQ(Labelling(ledger.links["a/x b/y"].to_a).label_of("flow").value(), 16U);
  ledger.mgmt["a"] = {7, "sha256:00"};
  ledger.ports["a"]["spiffe://acme/node/a"] = 1080;
  EXPECT_EQ(parse_ledger(print_ledger(ledger)).value(), ledger);
  EXPECT_FALSE(parse_ledger("{\"schema\":\"other\"}"));
  ledger.links["a/x b/y"].to_a.labels["other"] = 16;
  EXPECT_FALSE(parse_ledger(print_ledger(ledger))) << "one label for two uses";
}

TEST(Ledger, LabelsStayAndAreNotReusedAtOnce) {
  LabelSpace space;
  Labelling labels(space);
  EXPECT_EQ(labels.label_of("a").value(), 16U);
  EXPECT_EQ(labels.label_of("b").value(), 17U);
  EXPECT_EQ(labels.label_of("a").value(), 16U);
  space.labels.erase("a");
  EXPECT_EQ(labels.label_of("c").value(), 18U);
  EXPECT_EQ(labels.label_of("a").value(), 19U);
}

TEST(Ledger, AfterARoundFreeLabelsAreFound) {
  LabelSpace space{.next = kMaxLabel, .labels = {{"a", 16}, {"b", 18}}};
  Labelling labels(space);
  EXPECT_EQ(labels.label_of("c").value(), kMaxLabel);
  EXPECT_EQ(labels.label_of("d").value(), 17U);
  EXPECT_EQ(labels.label_of("e").value(), 19U);
}

TEST(Ledger, WhatNobodyAskedForIsForgotten) {
  LabelSpace space{.next = 19, .labels = {{"a", 16}, {"b", 17}, {"c", 18}}};
  Labelling labels(space);
  EXPECT_EQ(labels.label_of("b").value(), 17U);
  EXPECT_EQ(labels.label_of("d").value(), 19U);
  labels.forget_others();
  EXPECT_EQ(space, (LabelSpace{.next = 20, .labels = {{"b", 17}, {"d", 19}}}));
}

TEST(Ledger, NamesAreFree) {
  std::set<std::string> taken = {"beta"};
  EXPECT_EQ(take_name(taken, "beta", "beta-eth1"), "beta-eth1");
  EXPECT_EQ(take_name(taken, "beta", "beta-eth1"), "beta-eth1-2");
  EXPECT_EQ(take_name(taken, "gamma", "x"), "gamma");
  EXPECT_EQ(take_name(taken, std::string(63, 'a'), "x").size(), 60U);
}

}  // namespace ledger_test
}  // namespace sluice::mesh
