// The rules of a manifest that stand between its fields; those of single fields are in their types.
#include "bundle/manifest/manifest.h"

#include <set>

#include "base/json_place.h"
#include "base/json_reader.h"
#include "base/json_schema.h"
#include "base/json_text.h"
#include "base/yaml.h"
#include "bundle/manifest/paused_page.h"

namespace sluice::bundle {

namespace {

constexpr uint32_t kMaxReplicas = 1'000;
constexpr auto kLongestDrain = std::chrono::hours(1);
constexpr std::chrono::milliseconds kLongestSticky = std::chrono::days(400);  // as browsers keep no cookie for longer
constexpr std::chrono::milliseconds kLongestWait = std::chrono::days(1);

// Finds the first rule that does not hold.
class Rules {
 public:
  explicit Rules(const Manifest& manifest) : manifest_(manifest) {}

  std::optional<Error> first_broken() {
    program();
    health();
    requests();
    variables();
    questions();
    storages();
    migrations();
    amounts();
    return std::move(error_);
  }

 private:
  void refuse(const std::string& pointer, std::string message) {
    if (!error_) error_ = Error{.code = Code::invalid, .message = std::move(message), .path = pointer};
  }

  void program() {
    if (manifest_.run.empty() && !manifest_.image) {
      refuse("", "it does not say how the bundle is run (\"run\", or \"image\" for a container)");
    }
    if (!manifest_.run.empty() && manifest_.image) {
      refuse("/image",
             "a bundle runs a program of its own (\"run\") or one of an image, not both; the words that an "
             "image's program is called with are \"container: {command: …}\"");
    }
    image();
    arguments("/run", manifest_.run);
    arguments("/build", manifest_.build);
    if (manifest_.include.empty()) refuse("/include", "nothing would be packed: name at least one glob");
  }

  void image() {
    if (manifest_.container && !manifest_.image)
      refuse("/container", "only a bundle with an \"image\" has a container");
    if (manifest_.container) arguments("/container/command", manifest_.container->command);
    if (manifest_.container && manifest_.container->port == 0) refuse("/container/port", "from 1 to 65535");
    if (!manifest_.image) return;
    const std::string& image = *manifest_.image;
    if (image.empty())
      refuse("/image", "an image has a name, as registry.example/shop:1.4, or is a folder, as ./image");
    if (image.starts_with("../") || image.starts_with('/') || image.find("/../") != std::string::npos) {
      refuse("/image", "an OCI layout lies in the bundle: ./FOLDER");
    }
  }

  void arguments(const std::string& pointer, const std::vector<std::string>& words) {
    if (!words.empty() && words.front().empty()) refuse(pointer + "/0", "the program has no name");
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].find('\0') != std::string::npos) {
        refuse(pointer + "/" + std::to_string(i), "an argument cannot have a NUL in it");
      }
    }
  }

  void health() {
    const Health& health = manifest_.health;
    bool has_command = !health.command.empty();
    if (health.by == HealthBy::command && !has_command) refuse("/health", "health by command needs a \"command\"");
    if (health.by != HealthBy::command && has_command) {
      refuse("/health/command", "a command is run only with \"by: command\"");
    }
    arguments("/health/command", health.command);
    if (health.interval.length.count() == 0) refuse("/health/interval", "it must be longer than nothing");
    if (health.timeout.length.count() == 0) refuse("/health/timeout", "it must be longer than nothing");
    if (health.healthy_after == 0) refuse("/health/healthy_after", "it must be at least 1");
    if (health.unhealthy_after == 0) refuse("/health/unhealthy_after", "it must be at least 1");
  }

  // How the router treats what comes in.
  void requests() {
    for (size_t i = 0; i < manifest_.routes.size(); ++i) {
      if (manifest_.routes[i].strip && manifest_.routes[i].path.text == "/") {
        refuse("/routes/" + std::to_string(i) + "/strip", "the path / leaves nothing to strip");
      }
    }
    const Stickiness& stickiness = manifest_.stickiness;
    if (stickiness.key) {
      const std::string pointer = "/stickiness/key";
      if (!stickiness.key->header && !stickiness.key->cookie) {
        refuse(pointer, "it names neither a \"header\" nor a \"cookie\"");
      }
      if (stickiness.key->header && stickiness.key->cookie) {
        refuse(pointer + "/cookie", "a session's key is in a \"header\" or in a \"cookie\", not in both");
      }
      if (stickiness.mode == StickyMode::none) refuse(pointer, "with \"mode: none\" nobody is kept anywhere");
    }
    if (!is_seconds(stickiness.ttl, 1, kLongestSticky)) refuse("/stickiness/ttl", "whole seconds, from 1s to 400d");
    if (!is_seconds(manifest_.paused.retry_after, 0, kLongestWait)) {
      refuse("/paused/retry_after", "whole seconds, from 0s to 1d");
    }
    if (manifest_.paused.page && page_type(manifest_.paused.page->text).empty()) {
      refuse("/paused/page", "a page is a file that ends in .html, .txt or .json");
    }
    const Timeouts& timeouts = manifest_.timeouts;
    const std::pair<const char*, const Duration*> waits[] = {{"/timeouts/connect", &timeouts.connect},
                                                             {"/timeouts/first_byte", &timeouts.first_byte},
                                                             {"/timeouts/idle", &timeouts.idle},
                                                             {"/timeouts/stream_idle", &timeouts.stream_idle}};
    for (const auto& [pointer, wait] : waits) {
      if (wait->length.count() < 1 || wait->length > kLongestWait) refuse(pointer, "from 1ms to 1d");
    }
  }

  static bool is_seconds(const Duration& duration, int64_t least, std::chrono::milliseconds most) {
    return duration.length.count() % 1000 == 0 && duration.length >= std::chrono::seconds(least) &&
           duration.length <= most;
  }

  void variables() {
    std::set<std::string> names;
    for (const auto& [name, value] : manifest_.env) {
      std::string pointer = "/env";
      append_pointer_token(pointer, name);
      auto sound = JsonScalar<VariableName>::parse(name);
      if (!sound) refuse(pointer, sound.error().message);
      if (value.find('\0') != std::string::npos) refuse(pointer, "a variable cannot have a NUL in it");
      names.insert(name);
    }
    for (size_t i = 0; i < manifest_.secrets.size(); ++i) {
      const std::string& name = manifest_.secrets[i].text;
      if (!names.insert(name).second) {
        refuse("/secrets/" + std::to_string(i), json_quoted(name) + " is named twice in \"env\" and \"secrets\"");
      }
    }
    for (size_t i = 0; i < manifest_.config.size(); ++i) {
      const Question& question = manifest_.config[i];
      if (!question.secret && !question.variable) continue;
      const std::string name = secret_variable(question);
      if (!names.insert(name).second) {
        refuse("/config/" + std::to_string(i) + "/variable", "the variable " + json_quoted(name) + " is there already");
      }
    }
  }

  void questions() {
    if (auto fault = fault_of(manifest_.config, "/config"); fault && !error_) error_ = std::move(fault);
  }

  void storages() {
    std::set<Name> names;
    for (size_t i = 0; i < manifest_.storage.size(); ++i) {
      if (!names.insert(manifest_.storage[i].name).second) {
        refuse("/storage/" + std::to_string(i) + "/name",
               json_quoted(manifest_.storage[i].name.text) + " occurs twice");
      }
    }
  }

  void migrations() {
    if (!manifest_.migrations) return;
    const Migrations& asked = *manifest_.migrations;
    if (asked.database.has_value() == asked.file.has_value()) {
      refuse("/migrations",
             "it names either \"database\", the secret with PostgreSQL's address, or \"file\", of SQLite");
    }
    if (asked.database && std::ranges::find(manifest_.secrets, *asked.database) == manifest_.secrets.end()) {
      refuse("/migrations/database", json_quoted(asked.database->text) + " is none of \"secrets\"");
    }
    if (asked.file) {
      const std::string storage = asked.file->text.substr(0, asked.file->text.find('/'));
      if (storage == asked.file->text ||
          std::ranges::none_of(manifest_.storage, [&](const Storage& each) { return each.name.text == storage; })) {
        refuse("/migrations/file", "it begins with the name of a storage: data/app.db");
      }
      if (manifest_.image) refuse("/migrations/file", "a container's own files are not migrated; use a database");
    }
  }

  void amounts() {
    if (manifest_.drain.length > kLongestDrain) refuse("/drain", "at most 1h");
    if (manifest_.replicas == 0 || manifest_.replicas > kMaxReplicas) {
      refuse("/replicas", "from 1 to " + std::to_string(kMaxReplicas));
    }
    if (!(manifest_.resources.cpu > 0 && manifest_.resources.cpu <= 1024)) {
      refuse("/resources/cpu", "more than 0 and at most 1024 processors");
    }
    if (manifest_.resources.processes == 0) refuse("/resources/processes", "at least 1");
    if (manifest_.resources.files < 16) refuse("/resources/files", "at least 16");
    if (manifest_.user && *manifest_.user == 0) refuse("/user", "a bundle does not run as root");
    if (manifest_.concept_ && manifest_.concept_->empty()) refuse("/concept", "a concept has a name");
  }

  const Manifest& manifest_;
  std::optional<Error> error_;
};

}  // namespace

Result<Manifest> parse_manifest(std::string_view text, const std::string& file) {
  auto document = parse_yaml(text, file, {.max_bytes = kMaxManifestBytes});
  if (!document) return document.error();
  if (document->root.is_null()) {
    return Error{.code = Code::invalid,
                 .message = "the manifest is empty",
                 .next = "sluice init writes one",
                 .position = Position{file, 1, 1}};
  }
  if (const json::object* fields = document->root.if_object(); fields != nullptr && fields->contains("config")) {
    if (auto other = not_asked(fields->at("config"), "/config")) {
      other->position = document->position_of(other->path);
      return *std::move(other);
    }
  }
  auto manifest = read<Manifest>(*document);
  if (!manifest) return manifest;
  if (auto broken = Rules(*manifest).first_broken()) {
    broken->position = document->position_of(broken->path);
    return *std::move(broken);
  }
  return manifest;
}

SecretsAs secrets_as_of(const Manifest& manifest) {
  return manifest.secrets_as.value_or(manifest.image ? SecretsAs::file : SecretsAs::env);
}

Error placed_in_manifest(Error error, std::string_view text, const std::string& file) {
  if (auto document = parse_yaml(text, file, {.max_bytes = kMaxManifestBytes})) {
    error.position = document->position_of(error.path);
  }
  return error;
}

json::value manifest_schema() {
  json::value schema = json_schema<Manifest>("A bundle's manifest", "urn:sluice:schema:bundle");
  // As the rules above have it, which no field says by itself.
  json::object& run = schema.at("properties").at("run").as_object();
  run["minItems"] = 1;
  run.erase("default");
  auto has = [](const char* field) { return json::object{{"required", json::array{field}}}; };
  schema.as_object()["oneOf"] = json::array{has("run"), has("image")};
  schema.at("$defs").at("bundle.SessionKey").as_object()["oneOf"] = json::array{has("header"), has("cookie")};
  return schema;
}

}  // namespace sluice::bundle
