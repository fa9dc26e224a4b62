// Compiles a Model into what each node is told, and walks the result: every allowed pair arrives and returns, nothing
// else does, and there is no loop. What is given out (names, labels, ports) comes from the ledger and goes into it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "mesh/artifact.h"
#include "mesh/facade.h"
#include "mesh/ledger.h"

namespace sluice::mesh {

struct NodePayloads {
  Agent agent;
  std::map<std::string, Vertex> vertices;
  std::map<std::string, Ctrl> ctrl;  // of its mesh vertices
};

// A vertex of kind mesh as the ends of links name it.
struct VertexRef {
  std::string node;
  std::string vertex;
  auto operator<=>(const VertexRef&) const = default;
};

struct LinkEnd {
  VertexRef at;
  std::string link;
  auto operator<=>(const LinkEnd&) const = default;
};

struct Compiled {
  std::map<std::string, NodePayloads> nodes;
  std::map<LinkEnd, LinkEnd> joints;  // what one end calls a link, and the other
};

// All faults: pairs without a way, labels that ran out. The ledger forgets what nobody uses any more.
struct CompileResult {
  Compiled compiled;
  std::vector<Error> faults;
};
CompileResult compile(const Model& model, Ledger& ledger);

// ------------------------------------------------------------------------------------------------------------ walk

struct TracedHop {
  std::string node;
  std::string vertex;
  std::string link;  // that it leaves by
  uint32_t label = 0;
};
BOOST_DESCRIBE_STRUCT(TracedHop, (), (node, vertex, link, label))

// Where one pair's packets go, there and back.
struct Traced {
  std::string initiator;
  std::string from;  // the node
  std::string target;
  std::vector<TracedHop> there;
  std::vector<TracedHop> back;
  std::string to;     // the node where it arrives
  std::string fault;  // empty: it arrives and returns
};
BOOST_DESCRIBE_STRUCT(Traced, (), (initiator, from, target, there, back, to, fault))

// Every way of every pair, alternatives in their order; a pair on one vertex, or on two that are linked directly, has
// no labels.
std::vector<Traced> trace_all(const Compiled& compiled);

// (initiator, node, target) of all that arrives and returns.
using Reach = std::set<std::tuple<std::string, std::string, std::string>>;
Reach reach_of(const std::vector<Traced>& traces);
Reach reach_of(const Model& model);

// What is wrong with the compiled set, compared with the model: empty if it does what the model says and nothing else.
std::vector<std::string> walk(const Compiled& compiled, const Model& model);

}  // namespace sluice::mesh
