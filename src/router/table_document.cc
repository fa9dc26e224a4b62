// Deployments are read one by one, each for itself.
#include "router/table_document.h"

#include <utility>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/terminal.h"

namespace sluice::router {
namespace {

// Room for 100,000 deployments with a few lines each.
constexpr JsonLimits kTableLimits{.max_depth = 16, .max_bytes = size_t{256} << 20, .max_nodes = 20'000'000};

std::string id_in(const json::value& deployment) {
  const json::object* object = deployment.if_object();
  const json::value* id = object != nullptr ? object->if_contains("id") : nullptr;
  if (id == nullptr || !id->is_string()) return "";
  return printable(std::string(id->get_string()).substr(0, 64));
}

Error wrong_schema(std::string_view expected, const std::string& found) {
  return {.code = Code::invalid,
          .message = "schema is '" + printable(found.substr(0, 80)) + "', expected '" + std::string(expected) + "'",
          .path = "/schema"};
}

}  // namespace

Result<ReadTable> read_table(std::string_view text, const std::string& file) {
  auto parsed = parse_json(text, file, kTableLimits);
  if (!parsed) return parsed.error();
  json::array deployments;
  if (json::object* root = parsed->root.if_object()) {
    if (json::value* given = root->if_contains("deployments"); given != nullptr && given->is_array()) {
      deployments = std::move(given->get_array());
      *given = json::array();
    }
  }
  // Positions are those of the whole text, so they are of no use once the deployments are taken out.
  auto document = read<TableDocument>(parsed->root);
  if (!document) return document.error();
  if (document->schema != kTableSchema) return wrong_schema(kTableSchema, document->schema);
  if (document->generation < 1) {
    return Error{.code = Code::invalid, .message = "a table's generation is at least 1", .path = "/generation"};
  }
  if (document->environment.empty() || document->environment.size() > 200) {
    return Error{.code = Code::invalid, .message = "expected the name of an environment", .path = "/environment"};
  }
  if (document->access_log_bps < 0 || document->access_log_bps > 10'000) {
    return Error{.code = Code::invalid, .message = "expected 0 to 10000 basis points", .path = "/access_log_bps"};
  }
  ReadTable table{.document = *std::move(document)};
  table.document.deployments.reserve(deployments.size());
  for (size_t i = 0; i < deployments.size(); ++i) {
    auto deployment = read<DeploymentDocument>(deployments[i]);
    if (deployment) {
      table.document.deployments.push_back(*std::move(deployment));
    } else {
      Error error = deployment.error();
      error.path = "/deployments/" + std::to_string(i) + error.path;
      table.quarantined.push_back({id_in(deployments[i]), to_string(error)});
    }
  }
  return table;
}

Result<ReadPatch> read_patch(std::string_view text) {
  auto parsed = parse_json(text, "", kTableLimits);
  if (!parsed) return parsed.error();
  auto document = read<PatchDocument>(*parsed);
  if (document && document->schema != kPatchSchema) return wrong_schema(kPatchSchema, document->schema);
  if (document && document->deployment.has_value() == document->removed.has_value()) {
    return Error{.code = Code::invalid, .message = "a patch has either a deployment or the id of one that is removed"};
  }
  if (document) {
    std::string id = document->deployment ? document->deployment->id : *document->removed;
    return ReadPatch{.document = *std::move(document), .deployment = std::move(id)};
  }
  const json::object* root = parsed->root.if_object();
  const json::value* deployment = root != nullptr ? root->if_contains("deployment") : nullptr;
  if (deployment == nullptr || id_in(*deployment).empty()) return document.error();
  std::string id = id_in(*deployment);
  return ReadPatch{.deployment = id, .quarantined = Quarantined{id, to_string(document.error())}};
}

}  // namespace sluice::router
