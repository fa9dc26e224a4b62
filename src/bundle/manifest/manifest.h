// Manifest is a bundle.yaml: what a bundle is called, how it is built and run, and what it needs. Only its name, its
// version and either `run` or `image` are required; the defaults stand below and in the JSON Schema. What a later
// version will be able to do is refused by name (kNotYet in manifest.cc), rather than ignored.
//
//   auto manifest = parse_manifest(text, "shop/bundle.yaml");   // shop/bundle.yaml:3:1: /prot: unknown field …
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "bundle/manifest/manifest_values.h"
#include "bundle/manifest/question.h"

namespace sluice::bundle {

constexpr std::string_view kManifestName = "bundle.yaml";
constexpr size_t kMaxManifestBytes = 1 << 20;

// How the program is reached: a TCP port that it finds in PORT, or a Unix socket whose path is in SLUICE_SOCKET.
enum class Listen { port, unix };
BOOST_DESCRIBE_ENUM(Listen, port, unix)

// What the program speaks: HTTP/1.1, or HTTP/2 in the clear by prior knowledge, as gRPC does.
enum class Transport { http, http2 };
BOOST_DESCRIBE_ENUM(Transport, http, http2)

enum class HealthBy { http, tcp, command };
BOOST_DESCRIBE_ENUM(HealthBy, http, tcp, command)

struct Health {
  HealthBy by = HealthBy::http;
  UrlPath path{"/health"};           // by http: any status from 200 to 399 is healthy
  std::vector<std::string> command;  // by command: exit code 0 is healthy
  Duration interval{std::chrono::seconds(5)};
  Duration timeout{std::chrono::seconds(2)};
  Duration start_within{std::chrono::seconds(30)};  // until it must be healthy for the first time
  uint32_t healthy_after = 1;                       // good answers in a row
  uint32_t unhealthy_after = 3;                     // bad ones
  static constexpr std::string_view kDefaulted[] = {"by",      "path",         "command",       "interval",
                                                    "timeout", "start_within", "healthy_after", "unhealthy_after"};
  bool operator==(const Health&) const = default;
};
BOOST_DESCRIBE_STRUCT(Health, (), (by, path, command, interval, timeout, start_within, healthy_after, unhealthy_after))

struct Route {
  std::optional<HostName> host;  // any host if it is left out
  UrlPath path{"/"};             // this path and what is below it
  bool strip = false;            // the program gets what is below the path as if that were all of it
  static constexpr std::string_view kDefaulted[] = {"path", "strip"};
  bool operator==(const Route&) const = default;
};
BOOST_DESCRIBE_STRUCT(Route, (), (host, path, strip))

// Where a visitor stays while several revisions share the requests: with the first one, at a point of the shares, or
// nowhere.
enum class StickyMode { session, bucket, none };
BOOST_DESCRIBE_ENUM(StickyMode, session, bucket, none)

// What tells visitors apart beside the router's own cookie: a header or a cookie of the application.
struct SessionKey {
  std::optional<HeaderName> header;
  std::optional<HeaderName> cookie;
  bool operator==(const SessionKey&) const = default;
};
BOOST_DESCRIBE_STRUCT(SessionKey, (), (header, cookie))

struct Stickiness {
  StickyMode mode = StickyMode::session;
  std::optional<SessionKey> key;
  Duration ttl{std::chrono::hours(1)};  // from the last time that the visitor was seen
  static constexpr std::string_view kDefaulted[] = {"mode", "ttl"};
  bool operator==(const Stickiness&) const = default;
};
BOOST_DESCRIBE_STRUCT(Stickiness, (), (mode, key, ttl))

// What the router answers while the deployment is paused.
struct Paused {
  std::optional<InnerPath> page;  // a file of the bundle (bundle/manifest/paused_page.h); else the router's own words
  Duration retry_after{std::chrono::seconds(30)};
  static constexpr std::string_view kDefaulted[] = {"retry_after"};
  bool operator==(const Paused&) const = default;
};
BOOST_DESCRIBE_STRUCT(Paused, (), (page, retry_after))

// How long the router waits for the program.
struct Timeouts {
  Duration connect{std::chrono::seconds(2)};
  Duration first_byte{std::chrono::minutes(1)};   // of an answer
  Duration idle{std::chrono::minutes(1)};         // between two pieces of a body
  Duration stream_idle{std::chrono::minutes(5)};  // the same of WebSockets and event streams
  static constexpr std::string_view kDefaulted[] = {"connect", "first_byte", "idle", "stream_idle"};
  bool operator==(const Timeouts&) const = default;
};
BOOST_DESCRIBE_STRUCT(Timeouts, (), (connect, first_byte, idle, stream_idle))

// How the program gets its secrets: as variables, or as a file in memory whose path is in the variable.
enum class SecretsAs { env, file };
BOOST_DESCRIBE_ENUM(SecretsAs, env, file)

// What happens to a program when something that it is told by runtime:// changes: its replicas are replaced one after
// the other, or its config file is written anew and it is sent SIGHUP.
enum class Reload { restart, signal };
BOOST_DESCRIBE_ENUM(Reload, restart, signal)

// A folder that outlives revisions; its path is in the variable SLUICE_STORAGE_<NAME>.
struct Storage {
  Name name;
  ByteCount size{uint64_t{1} << 30};
  static constexpr std::string_view kDefaulted[] = {"size"};
  bool operator==(const Storage&) const = default;
};
BOOST_DESCRIBE_STRUCT(Storage, (), (name, size))

// A database whose schema changes with the bundle, and the folder of its migrations. It is PostgreSQL at the address
// that is in one of the secrets, or a SQLite file in one of the storages: "data/app.db".
struct Migrations {
  InnerPath folder{"migrations"};
  std::optional<VariableName> database;
  std::optional<InnerPath> file;
  bool autoExpand = true;     // before a revision is started
  bool autoMigrate = true;    // and copied, too
  bool autoContract = false;  // as soon as no revision that needs the old side runs
  bool backupBefore = true;
  uint32_t contractApprovals = 0;  // other people who must agree before the old side goes
  static constexpr std::string_view kDefaulted[] = {"folder",       "autoExpand",   "autoMigrate",
                                                    "autoContract", "backupBefore", "contractApprovals"};
  bool operator==(const Migrations&) const = default;
};
BOOST_DESCRIBE_STRUCT(Migrations, (),
                      (folder, database, file, autoExpand, autoMigrate, autoContract, backupBefore, contractApprovals))

struct Resources {
  double cpu = 1;  // processors
  ByteCount memory{uint64_t{512} << 20};
  uint32_t processes = 512;
  uint32_t files = 4096;  // open at once
  static constexpr std::string_view kDefaulted[] = {"cpu", "memory", "processes", "files"};
  bool operator==(const Resources&) const = default;
};
BOOST_DESCRIBE_STRUCT(Resources, (), (cpu, memory, processes, files))

// How the program of an image runs.
struct Container {
  std::vector<std::string> command;   // what it is called with, instead of what the image says
  uint16_t port = 8080;               // that it listens on; also in PORT, which it may read
  bool writable = false;              // its root; what it writes there goes with it
  ByteCount tmp{uint64_t{64} << 20};  // the size of /tmp, which is in memory
  static constexpr std::string_view kDefaulted[] = {"command", "port", "writable", "tmp"};
  bool operator==(const Container&) const = default;
};
BOOST_DESCRIBE_STRUCT(Container, (), (command, port, writable, tmp))

struct Manifest {
  Name name;
  Version version;
  std::vector<std::string> run;      // the program and its arguments, started in the bundle's folder
  std::optional<std::string> image;  // in place of `run`: in a registry, or ./FOLDER, an OCI layout in the bundle
  std::optional<Container> container;
  std::vector<std::string> build;  // run first, in a clean copy; nothing by default
  std::vector<InnerPath> include = {{"**"}};
  Listen listen = Listen::port;
  Health health;
  std::vector<Route> routes;
  Stickiness stickiness;
  Paused paused;
  Timeouts timeouts;
  std::map<std::string, std::string> env;
  std::vector<Question> config;
  Reload reload = Reload::restart;
  std::vector<VariableName> secrets;
  std::optional<SecretsAs> secrets_as;  // env; of an image, file
  bool pin_secrets = false;             // a revision keeps the versions that it was first started with
  std::vector<Storage> storage;
  std::optional<Migrations> migrations;
  Duration drain{std::chrono::seconds(30)};
  uint32_t replicas = 1;
  Resources resources;
  std::optional<uint32_t> user;  // the user id it runs as, where Sluice may choose: 65532, or the image's
  Transport transport = Transport::http;
  std::optional<std::string> concept_;       // the concept that this bundle implements
  std::vector<FindingHash> allowed_secrets;  // findings of the secrets doctor that are none

  static constexpr std::string_view kDefaulted[] = {
      "run",      "build",     "include",   "listen",          "health",      "routes",  "stickiness",
      "paused",   "timeouts",  "env",       "config",          "secrets",     "storage", "drain",
      "replicas", "resources", "transport", "allowed_secrets", "pin_secrets", "reload"};
  bool operator==(const Manifest&) const = default;
};
BOOST_DESCRIBE_STRUCT(Manifest, (),
                      (name, version, run, image, container, build, include, listen, health, routes, stickiness, paused,
                       timeouts, env, config, reload, secrets, secrets_as, pin_secrets, storage, migrations, drain,
                       replicas, resources, user, transport, concept_, allowed_secrets))

// How it gets its secrets, if it does not say so itself.
SecretsAs secrets_as_of(const Manifest& manifest);
inline constexpr uint32_t kDefaultUser = 65532;

// Whether the image lies in the bundle.
inline bool is_layout(std::string_view image) { return image.starts_with("./"); }

// Errors carry the position in the file.
Result<Manifest> parse_manifest(std::string_view text, const std::string& file = std::string(kManifestName));

// An error of the field that it names by its path, with the place of that field in the manifest's text.
Error placed_in_manifest(Error error, std::string_view text, const std::string& file);

// The JSON Schema (draft 2020-12) of bundle.yaml.
json::value manifest_schema();

}  // namespace sluice::bundle
