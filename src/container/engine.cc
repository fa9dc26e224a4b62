// What the API calls things is known here alone.
#include "container/engine.h"

#include <sys/utsname.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "crypto/base64.h"

namespace sluice::container {
namespace {

namespace json = boost::json;

constexpr int64_t kAsk_ms = 60'000, kLoad_ms = 600'000;
const std::string kApi = "v1.41";
constexpr size_t kMostLine = 1 << 20;  // of the stream of a pull

// The segments of an image's name, which has slashes.
std::vector<std::string> image_path(const std::string& name, const std::string& behind = "") {
  std::vector<std::string> path = {"images"};
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    path.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!behind.empty()) path.push_back(behind);
  return path;
}

// As images name it.
std::string machine_architecture() {
  utsname machine{};
  ::uname(&machine);
  const std::string name = static_cast<const char*>(machine.machine);
  if (name == "x86_64") return "amd64";
  if (name == "aarch64") return "arm64";
  return name.starts_with("arm") ? "arm" : name;
}

std::string text_at(const json::value& value, std::string_view name) {
  const json::object* object = value.if_object();
  const json::value* found = object == nullptr ? nullptr : object->if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

const json::value& at(const json::value& value, std::string_view name) {
  static const json::value kNothing;
  const json::object* object = value.if_object();
  const json::value* found = object == nullptr ? nullptr : object->if_contains(name);
  return found == nullptr ? kNothing : *found;
}

int64_t number_at(const json::value& value, std::string_view name) {
  const json::value& found = at(value, name);
  boost::system::error_code failure;
  const auto number = found.to_number<int64_t>(failure);
  return failure ? 0 : number;
}

bool flag_at(const json::value& value, std::string_view name) {
  const json::value& found = at(value, name);
  return found.is_bool() && found.get_bool();
}

std::vector<std::string> texts_at(const json::value& value, std::string_view name) {
  std::vector<std::string> texts;
  const json::value& found = at(value, name);
  if (!found.is_array()) return texts;
  for (const json::value& each : found.get_array()) {
    if (each.is_string()) texts.emplace_back(each.get_string());
  }
  return texts;
}

Labels labels_at(const json::value& value, std::string_view name) {
  Labels labels;
  const json::value& found = at(value, name);
  if (!found.is_object()) return labels;
  for (const auto& each : found.get_object()) {
    if (each.value().is_string()) labels.emplace(each.key(), each.value().get_string());
  }
  return labels;
}

Result<json::value> document_of(const http::Answer& answer, const std::string& what) {
  boost::system::error_code failure;
  json::value document = json::parse(answer.body, failure);
  if (failure) {
    return Error{.code = Code::failed,
                 .message = "the container engine answered " + what + " with something else than JSON"};
  }
  return document;
}

Error refusal_of(const http::Answer& answer, const std::string& what) {
  boost::system::error_code failure;
  const json::value document = json::parse(answer.body, failure);
  std::string words = failure ? "" : text_at(document, "message");
  if (words.empty()) words = "it answered " + std::to_string(answer.status);
  Error error{.code = Code::failed, .message = "the container engine cannot " + what + ": " + words};
  if (answer.status == 404) error.code = Code::not_found;
  if (answer.status == 409) error.code = Code::conflict;
  if (answer.status == 400) error.code = Code::invalid;
  // podman says 500 to a name that is taken.
  if (answer.status == 500 && words.find("already") != std::string::npos) error.code = Code::conflict;
  return error;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view each : words) {
    if (text.find(each) != std::string_view::npos) return true;
  }
  return false;
}

// Engines hand on what the registry said, in words of their own around it.
Error registry_error(const std::string& message) {
  Error error{.code = Code::failed, .message = message};
  if (contains_any(message, {"unauthorized", "authentication required", "access denied", "denied:", "no basic auth",
                             "invalid username/password"})) {
    error.code = Code::denied;
  } else if (contains_any(message, {"manifest unknown", "name unknown", "not found", "repository name not known",
                                    "No such image"})) {
    error.code = Code::not_found;
  }
  return error;
}

json::object limits_of(const ContainerSpec& spec) {
  json::array limits;
  if (spec.files > 0) limits.push_back({{"Name", "nofile"}, {"Soft", spec.files}, {"Hard", spec.files}});
  // podman asks for more than many machines allow as soon as any limit is named.
  if (spec.user_processes > 0) {
    limits.push_back({{"Name", "nproc"}, {"Soft", spec.user_processes}, {"Hard", spec.user_processes}});
  }
  limits.push_back({{"Name", "core"}, {"Soft", 0}, {"Hard", 0}});
  return {{"Memory", spec.memory_bytes},
          {"MemorySwap", spec.memory_bytes},
          {"NanoCpus", static_cast<int64_t>(std::llround(spec.cpu * 1e9))},
          {"PidsLimit", spec.processes},
          {"Ulimits", std::move(limits)}};
}

json::object host_of(const ContainerSpec& spec) {
  json::object host = limits_of(spec);
  host["ReadonlyRootfs"] = !spec.writable;
  host["CapDrop"] = json::array{"ALL"};
  host["SecurityOpt"] = json::array{"no-new-privileges"};
  host["NetworkMode"] = spec.network.empty() ? "none" : spec.network;
  host["RestartPolicy"] = {{"Name", "no"}};
  host["LogConfig"] = {{"Type", "json-file"}, {"Config", {{"max-size", "10m"}, {"max-file", "2"}}}};
  json::array mounts;
  for (const Mount& each : spec.mounts) {
    mounts.push_back(
        {{"Type", "bind"}, {"Source", each.source}, {"Target", each.target}, {"ReadOnly", !each.writable}});
  }
  host["Mounts"] = std::move(mounts);
  json::object memory;
  for (const auto& [path, bytes] : spec.memory_folders) {
    memory[path] = "rw,nosuid,nodev,mode=1777,size=" + std::to_string(bytes);
  }
  host["Tmpfs"] = std::move(memory);
  if (spec.port) {
    json::array places;
    for (const std::string& each : {std::string("127.0.0.1"), spec.port->address}) {
      if (!each.empty()) places.push_back({{"HostIp", each}, {"HostPort", std::to_string(spec.port->outer)}});
    }
    host["PortBindings"] = {{std::to_string(spec.port->inner) + "/tcp", std::move(places)}};
  }
  return host;
}

Container container_of(const json::value& document) {
  const json::value& state = at(document, "State");
  const json::value& config = at(document, "Config");
  std::string name = text_at(document, "Name");
  if (name.starts_with('/')) name.erase(0, 1);
  return {.id = text_at(document, "Id"),
          .name = name,
          .image = text_at(document, "Image"),
          .running = flag_at(state, "Running"),
          .status = text_at(state, "Status"),
          .pid = static_cast<int>(number_at(state, "Pid")),
          .exit_code = static_cast<int>(number_at(state, "ExitCode")),
          .out_of_memory = flag_at(state, "OOMKilled"),
          .error = text_at(state, "Error"),
          .stop_signal = text_at(config, "StopSignal"),
          .labels = labels_at(config, "Labels")};
}

Image image_of(const json::value& document) {
  return {.id = text_at(document, "Id"),
          .user = text_at(at(document, "Config"), "User"),
          .tags = texts_at(document, "RepoTags"),
          .digests = texts_at(document, "RepoDigests"),
          .bytes = static_cast<uint64_t>(number_at(document, "Size"))};
}

}  // namespace

std::string registry_auth(const std::string& user, const std::string& password, const std::string& host) {
  return crypto::to_base64(
      json::serialize(json::object{{"username", user}, {"password", password}, {"serveraddress", host}}),
      crypto::Base64::url);
}

Result<void> PullStream::take(std::string_view bytes) {
  held_.append(bytes);
  size_t begin = 0;
  for (size_t end = held_.find('\n'); end != std::string::npos; end = held_.find('\n', begin)) {
    auto good = take_line(std::string_view(held_).substr(begin, end - begin));
    begin = end + 1;
    if (!good) return good;
  }
  held_.erase(0, begin);
  if (held_.size() <= kMostLine) return {};
  return Error{.code = Code::failed, .message = "the container engine sent something else than the progress of a pull"};
}

Result<void> PullStream::take_line(std::string_view line) {
  boost::system::error_code failure;
  const json::value said = json::parse(line, failure);
  if (failure) {
    if (line.find_first_not_of(" \r\t") == std::string_view::npos) return {};
    return Error{.code = Code::failed,
                 .message = "the container engine sent something else than the progress of a pull"};
  }
  if (std::string error = text_at(said, "error"); !error.empty()) return registry_error(error);
  const std::string id = text_at(said, "id"), status = text_at(said, "status");
  if (id.empty() || status.empty() || status.starts_with("Pulling from")) return {};
  Layer& layer = layers_[id];
  const json::value& detail = at(said, "progressDetail");
  if (status == "Downloading") {
    layer.done = static_cast<uint64_t>(std::max<int64_t>(number_at(detail, "current"), 0));
    layer.all = static_cast<uint64_t>(std::max<int64_t>(number_at(detail, "total"), 0));
  }
  if (status == "Download complete" || status == "Pull complete" || status == "Already exists") {
    layer.done = layer.all;
    layer.complete = true;
  }
  progress_ = {.layers = layers_.size()};
  for (const auto& [name, each] : layers_) {
    progress_.done_bytes += each.done;
    progress_.all_bytes += each.all;
    if (each.complete) progress_.layers_done++;
  }
  return {};
}

std::string body_of(const ContainerSpec& spec) {
  json::array environment;
  for (const auto& [name, value] : spec.environment) environment.emplace_back(name + "=" + value);
  json::object body{{"Image", spec.image},
                    {"Env", std::move(environment)},
                    {"Labels", json::value_from(spec.labels)},
                    {"HostConfig", host_of(spec)}};
  if (!spec.command.empty()) body["Cmd"] = json::value_from(spec.command);
  if (!spec.user.empty()) body["User"] = spec.user;
  if (spec.port) body["ExposedPorts"] = {{std::to_string(spec.port->inner) + "/tcp", json::object{}}};
  return json::serialize(body);
}

Result<std::unique_ptr<http::Client>> Engine::connect() const {
  auto client = http::Client::to_unix(socket_, clock_);
  if (client) return client;
  return Error{.code = Code::unavailable,
               .message = "no container engine answers at " + socket_ + ": " + client.error().message,
               .next = "start podman (systemctl start podman.socket) or Docker, or name its socket in DOCKER_HOST"};
}

Result<http::Answer> Engine::ask(const std::string& method, const std::vector<std::string>& path,
                                 const http::Query& query, const std::string& body, int64_t timeout_ms) const {
  auto client = connect();
  if (!client) return client.error();
  std::vector<std::string> whole = {kApi};
  whole.insert(whole.end(), path.begin(), path.end());
  http::Request request{.method = method, .target = http::target_of(whole, query), .body = body};
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  auto answer = (*client)->send(std::move(request), timeout_ms);
  if (answer) return answer;
  return Error{.code = Code::unavailable,
               .message = "the container engine at " + socket_ + " gave no answer: " + answer.error().message};
}

Result<EngineVersion> Engine::version() const {
  auto answer = ask("GET", {"_ping"}, {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status != 200) return refusal_of(*answer, "say its version");
  // "Libpod/4.3.1 (linux)", "Docker/20.10.24 (linux)"
  const std::string* server = answer->header("Server");
  const size_t slash = server == nullptr ? std::string::npos : server->find('/');
  const size_t open = server == nullptr ? std::string::npos : server->find(" (", std::min(slash, server->size()));
  if (open == std::string::npos || !server->ends_with(')')) {
    return Error{.code = Code::failed,
                 .message = "what answers at " + socket_ + " does not say that it is podman or Docker"};
  }
  return EngineVersion{.name = server->substr(0, slash),
                       .version = server->substr(slash + 1, open - slash - 1),
                       .os = server->substr(open + 2, server->size() - open - 3),
                       .architecture = machine_architecture()};
}

Result<void> Engine::pull(const std::string& reference, const std::string& auth,
                          const std::function<void(const PullProgress&)>& told,
                          const std::function<bool()>& cancelled) const {
  auto client = connect();
  if (!client) return client.error();
  http::Request request{.method = "POST",
                        .target = http::target_of({kApi, "images", "create"}, {{"fromImage", reference}})};
  if (!auth.empty()) request.headers.push_back({"X-Registry-Auth", auth});
  PullStream stream;
  Result<void> good;
  bool stopped = false;
  auto stop = [&] { return stopped = stopped || (cancelled && cancelled()); };
  auto answer = (*client)->stream(
      std::move(request),
      [&](std::string_view bytes) {
        good = stream.take(bytes);
        if (good && told) told(stream.progress());
        return good && !stop();
      },
      stop);
  if (!good) return good;
  if (stopped) return Error{.code = Code::failed, .message = "nobody waits for " + reference + " any more"};
  if (!answer) {
    return Error{
        .code = Code::unavailable,
        .message = "the container engine broke off while it pulled " + reference + ": " + answer.error().message};
  }
  if (answer->status >= 400) {
    Error refused = refusal_of(*answer, "pull " + reference);
    const Error told_apart = registry_error(refused.message);
    if (told_apart.code != Code::failed) refused.code = told_apart.code;
    return refused;
  }
  return {};
}

Result<void> Engine::load(File& archive) const {
  auto client = connect();
  if (!client) return client.error();
  http::Request request{.method = "POST",
                        .target = http::target_of({kApi, "images", "load"}, {{"quiet", "1"}}),
                        .headers = {{"Content-Type", "application/x-tar"}}};
  auto answer = (*client)->send(std::move(request), archive, kLoad_ms);
  if (!answer)
    return Error{.code = Code::unavailable, .message = "the container engine took no image: " + answer.error().message};
  if (answer->status >= 400) return refusal_of(*answer, "take the image");
  PullStream said;  // a failure may be told in a stream, as with a pull
  return said.take(answer->body + "\n");
}

Result<Image> Engine::image(const std::string& name) const {
  auto answer = ask("GET", image_path(name, "json"), {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status != 200) return refusal_of(*answer, "find the image " + name);
  auto document = document_of(*answer, "for an image");
  if (!document) return document.error();
  return image_of(*document);
}

Result<std::vector<Image>> Engine::images() const {
  auto answer = ask("GET", {"images", "json"}, {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status != 200) return refusal_of(*answer, "list its images");
  auto document = document_of(*answer, "for its images");
  if (!document) return document.error();
  std::vector<Image> all;
  if (!document->is_array()) return all;
  for (const json::value& each : document->get_array()) all.push_back(image_of(each));
  return all;
}

Result<void> Engine::tag(const std::string& image, const std::string& repository, const std::string& tag) const {
  auto answer = ask("POST", image_path(image, "tag"), {{"repo", repository}, {"tag", tag}}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400) return refusal_of(*answer, "name the image " + image);
  return {};
}

Result<void> Engine::remove_image(const std::string& name) const {
  auto answer = ask("DELETE", image_path(name), {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400 && answer->status != 404) return refusal_of(*answer, "remove the image " + name);
  return {};
}

Result<std::string> Engine::create(const std::string& name, const ContainerSpec& spec) const {
  auto answer = ask("POST", {"containers", "create"}, {{"name", name}}, body_of(spec), kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400) return refusal_of(*answer, "make the container " + name);
  auto document = document_of(*answer, "for a new container");
  if (!document) return document.error();
  return text_at(*document, "Id");
}

Result<void> Engine::start(const std::string& id) const {
  auto answer = ask("POST", {"containers", id, "start"}, {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400) return refusal_of(*answer, "start the container");
  return {};
}

Result<void> Engine::kill(const std::string& id, const std::string& signal) const {
  auto answer = ask("POST", {"containers", id, "kill"}, {{"signal", signal}}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400 && answer->status != 404 && answer->status != 409) {
    return refusal_of(*answer, "signal the container");
  }
  return {};
}

Result<Container> Engine::inspect(const std::string& name) const {
  auto answer = ask("GET", {"containers", name, "json"}, {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status != 200) return refusal_of(*answer, "find the container " + name);
  auto document = document_of(*answer, "for a container");
  if (!document) return document.error();
  return container_of(*document);
}

Result<void> Engine::remove(const std::string& id) const {
  auto answer = ask("DELETE", {"containers", id}, {{"force", "1"}, {"v", "1"}}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400 && answer->status != 404) return refusal_of(*answer, "remove the container");
  return {};
}

Result<std::vector<Container>> Engine::list(const Labels& labels) const {
  json::array wanted;
  for (const auto& [name, value] : labels) wanted.emplace_back(name + "=" + value);
  const std::string filters = json::serialize(json::object{{"label", std::move(wanted)}});
  auto answer = ask("GET", {"containers", "json"}, {{"all", "1"}, {"filters", filters}}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status != 200) return refusal_of(*answer, "list its containers");
  auto document = document_of(*answer, "for its containers");
  if (!document) return document.error();
  std::vector<Container> all;
  if (!document->is_array()) return all;
  for (const json::value& each : document->get_array()) {
    Container one{.id = text_at(each, "Id"),
                  .image = text_at(each, "ImageID"),
                  .running = text_at(each, "State") == "running",
                  .status = text_at(each, "State"),
                  .labels = labels_at(each, "Labels")};
    if (auto names = texts_at(each, "Names"); !names.empty()) {
      one.name = names.front().starts_with('/') ? names.front().substr(1) : names.front();
    }
    all.push_back(std::move(one));
  }
  return all;
}

Result<void> Engine::follow_logs(const std::string& id, int64_t since_s, const LogFrames::Each& each,
                                 const std::function<bool()>& stop) const {
  return read_logs(id, true, since_s, each, stop);
}

Result<void> Engine::logs(const std::string& id, int64_t since_s, const LogFrames::Each& each) const {
  return read_logs(id, false, since_s, each, [] { return false; });
}

Result<void> Engine::read_logs(const std::string& id, bool follow, int64_t since_s, const LogFrames::Each& each,
                               const std::function<bool()>& stop) const {
  auto client = connect();
  if (!client) return client.error();
  http::Query query = {{"follow", follow ? "1" : "0"}, {"stdout", "1"}, {"stderr", "1"}, {"timestamps", "1"}};
  if (since_s > 0) query.push_back({"since", std::to_string(since_s)});
  LogFrames frames;
  Result<void> good;
  auto answer = (*client)->stream(
      {.method = "GET", .target = http::target_of({kApi, "containers", id, "logs"}, query)},
      [&](std::string_view bytes) {
        good = frames.take(bytes, each);
        return good && !stop();
      },
      stop);
  if (!good) return good;
  if (!answer) {
    return Error{.code = Code::unavailable, .message = "the container engine broke off: " + answer.error().message};
  }
  if (answer->status >= 400) return refusal_of(*answer, "show what the container says");
  return {};
}

Result<void> Engine::create_network(const std::string& name, const Labels& labels) const {
  // Networks of podman reach each other unless they are told not to; those of Docker never do.
  auto version_of = version();
  if (!version_of) return version_of.error();
  json::object options;
  if (version_of->name == "Libpod") options["isolate"] = "true";
  const std::string body = json::serialize(json::object{{"Name", name},
                                                        {"CheckDuplicate", true},
                                                        {"Driver", "bridge"},
                                                        {"Options", std::move(options)},
                                                        {"Labels", json::value_from(labels)}});
  auto answer = ask("POST", {"networks", "create"}, {}, body, kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400) return refusal_of(*answer, "make the network " + name);
  return {};
}

Result<std::optional<Labels>> Engine::network(const std::string& name) const {
  auto answer = ask("GET", {"networks", name}, {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status == 404) return std::optional<Labels>();
  if (answer->status != 200) return refusal_of(*answer, "find the network " + name);
  auto document = document_of(*answer, "for a network");
  if (!document) return document.error();
  return std::optional(labels_at(*document, "Labels"));
}

Result<void> Engine::remove_network(const std::string& name) const {
  auto answer = ask("DELETE", {"networks", name}, {}, "", kAsk_ms);
  if (!answer) return answer.error();
  if (answer->status >= 400 && answer->status != 404) {
    Error refused = refusal_of(*answer, "remove the network " + name);
    if (contains_any(refused.message, {"in use", "being used", "active endpoints"})) refused.code = Code::conflict;
    return refused;
  }
  return {};
}

}  // namespace sluice::container
