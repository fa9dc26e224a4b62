// The ledger beside the sources remembers what a compiler gave out: names of links, labels, ports, versions. It makes
// an edit change only what it touches: whatever is in the ledger keeps what it has.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::mesh {

// The labels that one end of a link takes in: 16 to 2^20 - 1, each for one use.
struct LabelSpace {
  uint32_t next = 16;
  std::map<std::string, uint32_t> labels;  // by use

  bool operator==(const LabelSpace&) const = default;
};
BOOST_DESCRIBE_STRUCT(LabelSpace, (), (next, labels))

struct LinkEntry {
  std::string a_name, b_name;  // what each end calls it
  LabelSpace to_a, to_b;       // what travels towards each end

  bool operator==(const LinkEntry&) const = default;
};
BOOST_DESCRIBE_STRUCT(LinkEntry, (), (a_name, b_name, to_a, to_b))

// How far a stream has come: the mgmt set of a node, or the ctrl artifact of a vertex.
struct StreamEntry {
  uint64_t version = 0;
  std::string digest;  // of its payloads

  bool operator==(const StreamEntry&) const = default;
};
BOOST_DESCRIBE_STRUCT(StreamEntry, (), (version, digest))

struct Ledger {
  std::string schema = "sluice.mesh.ledger.v1";
  std::map<std::string, LinkEntry> links;                        // by "node/vertex node/vertex", of link vertices
  std::map<std::string, std::map<std::string, uint32_t>> ports;  // by node, then by principal: SOCKS5 on loopback
  std::map<std::string, StreamEntry> mgmt;                       // by node
  std::map<std::string, StreamEntry> ctrl;                       // by "node/vertex"

  bool operator==(const Ledger&) const = default;
};
BOOST_DESCRIBE_STRUCT(Ledger, (), (schema, links, ports, mgmt, ctrl))

Result<Ledger> parse_ledger(std::string_view text, std::string file = "");
std::string print_ledger(const Ledger& ledger);

// Gives out the labels of one space, in constant time however many there are.
class Labelling {
 public:
  explicit Labelling(LabelSpace& space);

  // The label of a use; a new one is the next that nobody has. `limit`: all are taken.
  Result<uint32_t> label_of(const std::string& use);

  // Takes back the labels of all uses that nobody has asked for since this was made.
  void forget_others();

 private:
  LabelSpace& space_;
  uint32_t highest_ = 0;
  std::unordered_set<uint32_t> taken_;  // complete once a round is over; empty until then
  std::unordered_set<uint32_t> asked_;
};

// The first of these names that is free, or a numbered one; it is taken then.
std::string take_name(std::set<std::string>& taken, const std::string& wish, const std::string& second);

}  // namespace sluice::mesh
