// The text of the template. A test reads it with every setting taken out of its comment.
#include "bundle/manifest/manifest_template.h"

#include "base/json_text.h"

namespace sluice::bundle {

std::string manifest_template(const InitAnswers& answers) {
  std::string run;
  for (const std::string& word : answers.run) run += (run.empty() ? "" : ", ") + json_quoted(word);
  std::string listen = answers.listen == Listen::port ? "port" : "unix";
  return "# What this folder is when it is shipped: sluice bundles build packs and signs it.\n"
         "name: " +
         answers.name.text +
         "\n"
         "version: \"0.1.0\"\n"
         "\n"
         "# The program and its arguments, started in this folder.\n"
         "run: [" +
         run +
         "]\n"
         "\n"
         "# With port it listens on the TCP port in $PORT, with unix on the socket whose path is in $SLUICE_SOCKET.\n"
         "listen: " +
         listen +
         "\n"
         R"(
# Everything below may be left out; what stands here are the defaults, or an example where it says so.
#
# In place of `run`: an image in a registry, or ./FOLDER, an OCI layout in the bundle. It runs as a container. For
# example:
# image: registry.example/team/shop:1.4
# container: {command: [serve], port: 8080, writable: false, tmp: 64MB}
#
# Run before packing, in a clean copy of the folder. For example:
# build: ["make", "release"]
#
# What is packed, less what .sluiceignore names (as .gitignore does), less secrets, VCS folders and editor files.
# include: ["**"]
#
# How Sluice knows that it is well: by http, tcp or command.
# health: {by: http, path: /health, interval: 5s, timeout: 2s, start_within: 30s, healthy_after: 1, unhealthy_after: 3}
#
# Which requests it gets. Of {path: /api, strip: true} the program sees /items where /api/items was asked for. For
# example:
# routes: [{host: shop.example, path: /}]
#
# Where a visitor stays while several revisions share the requests: with the first one (session), at a point of the
# shares, so that a share which grows only draws visitors in (bucket), or nowhere (none). The router knows visitors by a
# cookie of its own, or by a key of the application's: {mode: session, key: {header: X-Session}}, or {cookie: sid}.
# stickiness: {mode: session, ttl: 1h}
#
# What is answered, with 503, while the deployment is paused: a file of the bundle that ends in .html, .txt or .json,
# and when to ask again. For example:
# paused: {page: paused.html, retry_after: 30s}
#
# How long the router waits for the program.
# timeouts: {connect: 2s, first_byte: 1m, idle: 1m, stream_idle: 5m}
#
# Variables for the program. For example:
# env: {LOG_LEVEL: info}
#
# What is asked when it is set up in an environment; the answers are in the file named by $SLUICE_CONFIG. For example:
# config: [{name: greeting, question: "How are visitors greeted?", type: string, default: Hello}]
# What happens when a runtime:// setting changes: restart, or signal, which is SIGHUP.
# reload: restart
#
# Secrets by name; their values come from the environment that it runs in, as variables or as files in memory. For
# example:
# secrets: [DATABASE_URL]
# secrets_as: env
# With this a revision keeps the versions that it was first started with, and a rollback brings them back:
# pin_secrets: true
#
# Folders that outlive revisions. For example:
# storage: [{name: uploads, size: 1GB}]
#
# A database whose schema changes with the bundle. For example, of a SQLite file in a storage:
# migrations: {folder: migrations, file: uploads/app.db}
#
# drain: 30s
# replicas: 1
# resources: {cpu: 1, memory: 512MB, processes: 512, files: 4096}
# user: 65532
#
# The concept that it implements. For example:
# concept: Catalogue
#
# Findings of the secrets doctor that are none, by the hash that it prints.
# allowed_secrets: []
)";
}

}  // namespace sluice::bundle
