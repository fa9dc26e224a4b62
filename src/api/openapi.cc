// Schemas of views and actions refer to their own `$defs`. Here all of them stand among the components, each under the
// name of what it belongs to, and the references lead there.
#include "api/openapi.h"

#include <algorithm>
#include <map>

#include "api/openapi_examples.h"
#include "engine/caller_words.h"
#include "engine/outcome_code.h"
#include "lang/codegen/generate_schema.h"

namespace sluice::api {
namespace {

const json::object kAnyObject{{"type", "object"}};

json::object leads_to(const std::string& where) { return {{"$ref", "#/components/" + where}}; }

// Words of a name that OpenAPI takes: letters, digits, `.`, `-` and `_`.
std::string component_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return text;
}

// What a request takes beside its path: parameters, headers (those with a capital) and members of its body. `#` marks a
// number, `?` true or false, `{}` an object, `[]` a list of texts; a body `bytes` is any bytes.
struct RouteWords {
  std::string_view parameters;
  std::string_view body;
};

const std::map<std::string_view, RouteWords>& route_words() {
  static const std::map<std::string_view, RouteWords> kWords = {
      {"GET /v1/events", {"types environment object flow from# raw? Last-Event-ID", ""}},
      {"GET /v1/flows", {"limit# before failed?", ""}},
      {"GET /v1/flows/{flow}", {"until for_ms#", ""}},
      {"GET /v1/flows/{flow}/answer", {"wait for_ms#", ""}},
      {"GET /v1/journal", {"from# for_ms#", ""}},
      {"GET /v1/logs", {"name customer since search follow? all?", ""}},
      {"GET /v1/position", {"at_least# for_ms#", ""}},
      {"GET /v1/state/{relation}", {"prefix skip# at_least# for_ms#", ""}},
      {"PATCH /v1/blobs/{digest}", {"reason Upload-Offset Upload-Complete", "bytes"}},
      {"POST /deployments/{step}", {"wait for_ms#", "environment deployment_id revision_id reason"}},
      {"POST /v1/exec", {"", "name command[] customer reason terminal{}"}},
      {"POST /v1/flows/{flow}/decisions", {"", "decision invocation variant fields{} reason"}},
      {"POST /v1/git/{source}/hook", {"X-Hub-Signature-256 X-Gitea-Signature X-Gitlab-Token", ""}},
      {"POST /v1/login", {"", "token code"}},
      {"POST /v1/stop", {"", "reason"}},
      {"PUT /v1/blobs/{digest}", {"reason", "bytes"}},
  };
  return kWords;
}

std::vector<std::pair<std::string, json::object>> worded(std::string_view words) {
  std::vector<std::pair<std::string, json::object>> all;
  for (size_t at = 0; at < words.size();) {
    const size_t blank = std::min(words.find(' ', at), words.size());
    std::string name(words.substr(at, blank - at));
    at = blank + 1;
    json::object schema{{"type", "string"}};
    for (const auto& [mark, marked] : {std::pair<std::string_view, json::object>{"#", {{"type", "integer"}}},
                                       {"?", {{"type", "boolean"}}},
                                       {"{}", {{"type", "object"}}},
                                       {"[]", {{"type", "array"}, {"items", {{"type", "string"}}}}}}) {
      if (!name.ends_with(mark)) continue;
      name.resize(name.size() - mark.size());
      schema = marked;
    }
    all.emplace_back(std::move(name), std::move(schema));
  }
  return all;
}

// What stands at an open place of a path.
std::string place_name(const std::string& before) {
  static const std::map<std::string_view, std::string_view> kPlaces = {{"blobs", "digest"},  {"deployments", "step"},
                                                                       {"flows", "flow"},    {"git", "source"},
                                                                       {"publish", "plane"}, {"state", "relation"}};
  const auto known = kPlaces.find(before);
  return known != kPlaces.end() ? std::string(known->second) : before + "_name";
}

class Writer {
 public:
  explicit Writer(const Described& described) : described_(described) {}

  json::object write() {
    add_actions();
    add_views();
    add_routes();
    schemas_["Problem"] =
        json::object{{"type", "object"},
                     {"description", "What was refused, and why (RFC 9457)."},
                     {"properties",
                      {{"type", {{"type", "string"}}},
                       {"title", {{"type", "string"}}},
                       {"status", {{"type", "integer"}}},
                       {"detail", {{"type", "string"}}},
                       {"code", {{"type", "string"}, {"description", "one of the codes of `sluice help exit-codes`"}}},
                       {"next", {{"description", "a sentence, or a list of next steps: actions, views or sentences"}}},
                       {"path", {{"type", "string"}, {"description", "a JSON pointer into the body"}}}}},
                     {"required", {"type", "title", "status", "detail", "code"}}};
    schemas_["Pending"] =
        json::object{{"type", "object"},
                     {"description", "How a call stands that has not ended."},
                     {"properties",
                      {{"action", {{"type", "string"}}},
                       {"flow", {{"type", "string"}, {"description", "by which it is found again"}}},
                       {"state", {{"type", "string"}}},
                       {"waitsFor", {{"type", "string"}, {"description", "what is open in it"}}},
                       {"position", {{"type", "integer"}, {"description", "from which it can be followed"}}}}},
                     {"required", {"action"}}};
    json::array tags;
    for (const auto& [name, description] : tags_)
      tags.push_back(json::object{{"name", name}, {"description", description}});
    return {{"openapi", "3.1.0"},
            {"info",
             {{"title", "Sluice"},
              {"version", described_.version},
              {"description", "Every action and every view of this server, and what belongs to them."},
              {"contact", {{"name", "whoever runs this server"}}},
              {"license", {{"name", "as the program's"}, {"identifier", "LicenseRef-Sluice"}}}}},
            {"servers", {{{"url", "/"}, {"description", "this server"}}}},
            {"security", {{{"token", json::array()}}}},
            {"tags", std::move(tags)},
            {"paths", std::move(paths_)},
            {"components",
             {{"schemas", std::move(schemas_)},
              {"responses",
               {{"Problem",
                 {{"description", "It was refused."},
                  {"content", {{"application/problem+json", {{"schema", leads_to("schemas/Problem")}}}}}}}}},
              {"parameters",
               {{"IdempotencyKey",
                 header("Idempotency-Key", "A second call with this key and the same request joins the first.")},
                {"IfMatch", header("If-Match", "The generation that the row must have, as \"7\".")},
                {"AtLeast",
                 {{"name", "at_least"},
                  {"in", "query"},
                  {"description", "A position that the answer must have seen, as a change was answered with."},
                  {"schema", {{"type", "integer"}, {"minimum", 0}}}}},
                {"IfNoneMatch", header("If-None-Match", "The ETag of an answer that the caller has already.")},
                {"Wait",
                 {{"name", "wait"},
                  {"in", "query"},
                  {"description", "How far to wait for it."},
                  {"schema",
                   {{"type", "string"}, {"enum", {"start", "answer", "settled", "all"}}, {"default", "answer"}}}}},
                {"ForMs",
                 {{"name", "for_ms"},
                  {"in", "query"},
                  {"description", "How many milliseconds to wait at most."},
                  {"schema", {{"type", "integer"}, {"minimum", 0}, {"default", 30'000}}}}}}},
              {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
  }

 private:
  static json::object header(const char* name, const char* description) {
    return {{"name", name}, {"in", "header"}, {"description", description}, {"schema", {{"type", "string"}}}};
  }

  // Moves the schema's own definitions to the components, and lets its references lead there.
  json::value adopted(json::value schema, const std::string& owner) {
    if (json::object* object = schema.if_object()) {
      object->erase("$schema");
      object->erase("$id");
      if (json::value* defs = object->if_contains("$defs")) {
        json::object own = std::move(defs->as_object());
        object->erase("$defs");
        for (auto& [name, each] : own) {
          schemas_[component_name(owner + "." + std::string(name))] = led(std::move(each), owner);
        }
      }
    }
    return led(std::move(schema), owner);
  }

  static json::value led(json::value schema, const std::string& owner) {
    if (json::array* array = schema.if_array()) {
      for (json::value& each : *array) each = led(std::move(each), owner);
    }
    json::object* object = schema.if_object();
    if (object == nullptr) return schema;
    for (auto& [name, each] : *object) {
      constexpr std::string_view kOwn = "#/$defs/";
      if (name == "$ref" && each.is_string() && std::string_view(each.get_string()).starts_with(kOwn)) {
        each =
            "#/components/schemas/" + component_name(owner + "." + std::string(each.get_string().subview(kOwn.size())));
      } else {
        each = led(std::move(each), owner);
      }
    }
    return schema;
  }

  static json::object answers(const std::string& said, json::value schema, const char* status = "200") {
    return {{status, {{"description", said}, {"content", {{"application/json", {{"schema", std::move(schema)}}}}}}},
            {"4XX", leads_to("responses/Problem")},
            {"5XX", leads_to("responses/Problem")}};
  }

  void add_actions() {
    const lang::Symbols& symbols = described_.kit.symbols();
    for (const lang::KitConcept& each : described_.kit.kit().concepts) {
      const std::string& concept_ = each.tree.name;
      auto owner = symbols.find_concept(concept_);
      if (!owner) continue;
      json::object schema = lang::generate_schema(each.tree);
      const json::object defs = schema.at("$defs").as_object();
      const json::value* purpose = schema.if_contains("description");
      bool any = false;
      for (const lang::ActionSymbol& action : symbols.concepts[*owner].actions) {
        if (action.callers == lang::Callers::syncs) continue;
        any = true;
        add_action(concept_, action, defs);
      }
      if (any) tags_.emplace_back(concept_, purpose != nullptr ? std::string(purpose->as_string()) : concept_);
    }
  }

  void add_action(const std::string& concept_, const lang::ActionSymbol& action, const json::object& defs) {
    const std::string name = concept_ + "/" + action.name, stem = concept_ + "." + action.name;
    json::object input = defs.at(action.name).as_object();
    for (const lang::FieldSymbol& param : action.params) {
      if (engine::is_filled_in(described_.kit.symbols(), param)) input["properties"].as_object().erase(param.name);
    }
    const json::value* prose = input.if_contains("description");
    std::string description = prose != nullptr ? std::string(prose->as_string()) : "Calls " + name + ".";
    if (!action.right.empty()) description += " Needs the right " + action.right + ".";
    if (action.source->impact_at) description += " Effect: " + std::string(name_of(action.impact)) + ".";
    schemas_[component_name(stem)] = led(std::move(input), concept_);
    json::array ends;
    json::object codes;
    for (const lang::VariantSymbol& variant : action.variants) {
      codes[variant.name] = code_name(engine::code_of(action, variant.name));
      if (engine::code_of(action, variant.name) != Code::ok) continue;
      const std::string end = component_name(stem + "." + variant.name);
      schemas_[end] = led(defs.at(action.name + "." + variant.name), concept_);
      ends.push_back(json::object{{"type", "object"},
                                  {"properties",
                                   {{"action", {{"const", name}}},
                                    {"variant", {{"const", variant.name}}},
                                    {"fields", leads_to("schemas/" + end)}}},
                                  {"required", {"action", "variant", "fields"}}});
    }
    json::value answer = ends.empty()       ? json::value(kAnyObject)
                         : ends.size() == 1 ? ends.front()
                                            : json::value(json::object{{"oneOf", std::move(ends)}});
    json::object responses = answers("It ended in a variant with the code ok.", std::move(answer));
    json::array parameters{leads_to("parameters/Wait"), leads_to("parameters/ForMs")};
    if (action.runs != lang::Runs::query) {
      responses["202"] = json::object{{"description", "It continues, or waits for people."},
                                      {"content", {{"application/json", {{"schema", leads_to("schemas/Pending")}}}}}};
      parameters.push_back(leads_to("parameters/IdempotencyKey"));
      parameters.push_back(leads_to("parameters/IfMatch"));
    }
    paths_["/v1/actions/" + name] = json::object{
        {"post",
         {{"operationId", stem},
          {"tags", {concept_}},
          {"summary", "Call " + name},
          {"description", description},
          {"x-sluice-codes", std::move(codes)},
          {"parameters", std::move(parameters)},
          {"requestBody",
           {{"content",
             {{"application/json",
               {{"schema",
                 {{"type", "object"},
                  {"properties",
                   {{"input", leads_to("schemas/" + component_name(stem))},
                    {"reason", {{"type", "string"}, {"description", "why, for the audit"}}},
                    {"dryRun",
                     {{"type", "boolean"},
                      {"description",
                       "say how it would end, and change nothing; what is not known before it is done is missing"}}}}},
                  {"additionalProperties", false}}}}}}}}},
          {"responses", std::move(responses)}}}};
  }

  void add_views() {
    tags_.emplace_back("views", "Named answers that are composed from committed state at one moment.");
    for (const lang::ViewWords* each : described_.views) {
      const std::string owner = "view." + each->name;
      json::array parameters{leads_to("parameters/IfNoneMatch"), leads_to("parameters/AtLeast")};
      json::value query = adopted(each->query_schema(), owner + ".query");
      const json::object* asked =
          query.as_object().contains("properties") ? query.at("properties").if_object() : nullptr;
      const json::value* needed = query.as_object().if_contains("required");
      for (const auto& [name, schema] : asked != nullptr ? *asked : json::object()) {
        const json::value* list = schema.is_object() ? schema.get_object().if_contains("type") : nullptr;
        json::object parameter{
            {"name", name},
            {"in", "query"},
            {"required", needed != nullptr && std::ranges::find(needed->as_array(), name) != needed->as_array().end()},
            {"schema", schema}};
        if (list != nullptr && *list == json::value("array")) parameter["explode"] = false;
        parameters.push_back(std::move(parameter));
      }
      schemas_[component_name(owner)] = adopted(each->schema(), owner);
      json::object responses = answers(each->summary + ".", leads_to("schemas/" + component_name(owner)));
      responses["304"] = json::object{{"description", "Nothing has changed since."}};
      paths_["/v1/views/" + each->name] = json::object{{"get",
                                                        {{"operationId", "view." + each->name},
                                                         {"tags", {"views"}},
                                                         {"summary", each->summary},
                                                         {"description", each->summary + "."},
                                                         {"parameters", std::move(parameters)},
                                                         {"responses", std::move(responses)}}}};
    }
  }

  void add_routes() {
    tags_.emplace_back("server", "What belongs to the server itself: flows, journal, events, its state.");
    for (const DescribedRoute& route : described_.routes) {
      const bool expanded = route.path.size() > 2 && (route.path[1] == "actions" || route.path[1] == "views");
      if (expanded) continue;
      std::string path, id = route.method;
      json::array parameters;
      for (size_t i = 0; i < route.path.size(); ++i) {
        const bool open = route.path[i] == "*";
        const std::string word = open ? place_name(route.path[i - 1]) : route.path[i];
        path += open ? "/{" + word + "}" : "/" + word;
        id += "." + word;
        if (!open) continue;
        parameters.push_back(
            json::object{{"name", word}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
      }
      json::object operation{{"operationId", id},
                             {"tags", {"server"}},
                             {"summary", route.summary},
                             {"description", route.summary + "."},
                             {"parameters", std::move(parameters)},
                             {"responses", answers(route.summary + ".", kAnyObject, "2XX")}};
      if (auto words = route_words().find(route.method + " " + path); words != route_words().end()) {
        add_words(words->second, operation);
      }
      std::string method = route.method;
      for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      json::object& there = paths_[path].is_object() ? paths_[path].as_object() : paths_[path].emplace_object();
      there[method] = std::move(operation);
    }
  }

  static void add_words(const RouteWords& words, json::object& operation) {
    for (auto& [name, schema] : worded(words.parameters)) {
      const bool header = std::isupper(static_cast<unsigned char>(name.front())) != 0;
      operation["parameters"].as_array().push_back(
          json::object{{"name", name}, {"in", header ? "header" : "query"}, {"schema", std::move(schema)}});
    }
    if (words.body.empty()) return;
    json::object content;
    if (words.body == "bytes") {
      content["application/octet-stream"] = json::object{{"schema", json::object()}};
    } else {
      json::object members;
      for (auto& [name, schema] : worded(words.body)) members[name] = std::move(schema);
      content["application/json"] =
          json::object{{"schema", json::object{{"type", "object"}, {"properties", std::move(members)}}}};
    }
    operation["requestBody"] = json::object{{"content", std::move(content)}};
  }

  const Described& described_;
  json::object paths_, schemas_;
  std::vector<std::pair<std::string, std::string>> tags_;
};

}  // namespace

json::object openapi_document(const Described& described) {
  json::object document = Writer(described).write();
  add_examples(document);
  return document;
}

}  // namespace sluice::api
