// What the artifacts of all nodes say together, as they are served: who is there, who is linked to whom, and which way
// every allowed pair takes. It is read from the artifacts alone, without the sources or the ledger.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "mesh/compile.h"

namespace sluice::mesh {

struct SurveyedVertex {
  std::string name;
  VertexKind kind = VertexKind::link;
};
BOOST_DESCRIBE_STRUCT(SurveyedVertex, (), (name, kind))

struct SurveyedNode {
  std::string node;
  std::vector<SurveyedVertex> vertices;
  std::vector<std::string> serves;   // users and services
  std::vector<std::string> signers;  // whose signatures its artifacts have
};
BOOST_DESCRIBE_STRUCT(SurveyedNode, (), (node, vertices, serves, signers))

struct SurveyedEnd {
  std::string node;
  std::string vertex;
  std::string link;  // what this end calls it
};
BOOST_DESCRIBE_STRUCT(SurveyedEnd, (), (node, vertex, link))

// `b.link` is empty where one end dials a service of the other directly.
struct SurveyedLink {
  SurveyedEnd a;
  SurveyedEnd b;
};
BOOST_DESCRIBE_STRUCT(SurveyedLink, (), (a, b))

struct Survey {
  std::vector<SurveyedNode> nodes;
  std::vector<SurveyedLink> links;
  std::vector<Traced> ways;  // of every pair, alternatives in their order
};

// From what is served to each node (mesh/config_server.h), by its name.
Result<Survey> survey(const std::map<std::string, std::string>& documents);

// What one end calls a link and the other, from the peers alone. Of several links between two vertices, those ends
// belong together whose labels are known at the other.
std::map<LinkEnd, LinkEnd> joints_of(const std::map<std::string, NodePayloads>& nodes);

}  // namespace sluice::mesh
