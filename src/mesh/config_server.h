// What a config server does: it takes publications apart, keeps each node's signed set, and gives a node its own and
// nothing else. It verifies shapes, versions and who asks; whose signatures count, each node decides for itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "http/message.h"

namespace sluice::mesh {

// What is served to one node, as a text: {"mgmt": […], "ctrl": […], "chain": […]}.
struct ServedNode {
  uint64_t version = 0;
  uint64_t ctrl_version = 0;  // the newest of its vertices'; 0: it has none
  std::string document;

  bool operator==(const ServedNode&) const = default;
};

struct Publishing {
  std::map<std::string, ServedNode> nodes;
  bool whole = true;  // false: ctrl alone, and nodes that are not in it stay as they are
};

// {"artifacts": […], "chain": […]} of all nodes. A node whose mgmt or ctrl artifacts are not in it keeps those that
// `stored` has of it. Each node's artifacts must be a set that joins; `invalid` or `gate_rejected` if they are not.
Result<Publishing> read_publication(std::string_view text,
                                    const std::function<std::optional<std::string>(const std::string& node)>& stored);

// `conflict`: older than what is served, or another content under its version.
Result<void> check_newer(const std::string& node, const ServedNode& before, const ServedNode& after);

// ------------------------------------------------------------------------------------------------------- for nodes

struct KnownNode {
  std::string authority;  // the mesh's CA
  ServedNode served;
  std::string revoked;  // why it gets nothing any more; empty: it does
};

struct NodeReport {
  uint64_t version = 0;
  std::map<std::string, uint64_t> ctrl;
  std::string active;
  bool pending = false;
  bool rejected = false;  // what it accepted last was taken back
  std::string trouble;
};
BOOST_DESCRIBE_STRUCT(NodeReport, (), (version, ctrl, active, pending, rejected, trouble))

struct NodeShelf {
  std::function<Result<std::optional<KnownNode>>(const std::string& mesh, const std::string& node)> find;
  std::function<Result<void>(const std::string& mesh, const std::string& node, const NodeReport& report)> report;
};

// GET /artifact/{mgmt,ctrl}/NODE?have=N and POST /artifact/report/NODE, with the proof of who asks (mesh/proof.h).
http::Response answer_node(const http::Request& request, const NodeShelf& shelf, int64_t now_ms);

}  // namespace sluice::mesh
