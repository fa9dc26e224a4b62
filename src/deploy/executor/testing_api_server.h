// A little API server for tests of what the executor makes of answers: it keeps whatever is applied, and says what a
// test tells it to. What real servers answer is in tests/kube.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "http/server.h"
#include "kube/object.h"

namespace sluice::deploy::executor {

class TestingApiServer {
 public:
  TestingApiServer() {
    auto listening = http::listen_tcp("127.0.0.1", 0);
    EXPECT_TRUE(listening);
    url = "http://127.0.0.1:" + std::to_string(http::port_of(*listening));
    auto started = http::Server::start(
        *std::move(listening), [this](const http::Request& request, const http::Peer&) { return answer(request); },
        clock_);
    EXPECT_TRUE(started);
    server_ = *std::move(started);
  }

  // What is answered in place of the usual; nothing: the usual.
  std::function<std::optional<http::Response>(const http::Request&)> instead;
  std::string url;

  boost::json::value object(const std::string& path) {
    std::lock_guard lock(mutex_);
    auto found = objects_.find(path);
    return found == objects_.end() ? boost::json::value() : found->second;
  }
  void put(const std::string& path, boost::json::value value) {
    std::lock_guard lock(mutex_);
    objects_[path] = std::move(value);
  }
  std::vector<std::string> paths() {
    std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& [path, value] : objects_) all.push_back(path);
    return all;
  }

  static http::Response refusal(int code, const std::string& reason, const std::string& message,
                                const std::string& details = "{}") {
    return {.status = code,
            .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":)" +
                    write(boost::json::value(message)) + R"(,"reason":")" + reason + R"(","details":)" + details +
                    R"(,"code":)" + std::to_string(code) + "}"};
  }
  static http::Response conflict() {
    return refusal(409, "Conflict", "Apply failed",
                   R"({"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"scaler\"",)"
                   R"("field":".spec.replicas"}]})");
  }

 private:
  http::Response answer(const http::Request& request) {
    if (instead) {
      if (auto other = instead(request)) return *other;
    }
    static const std::string kVerbs = R"("verbs":["get","list","patch","delete"])";
    const std::string path = request.target.substr(0, request.target.find('?'));
    if (path == "/apis") return {.body = R"({"groups":[{"preferredVersion":{"groupVersion":"apps/v1"}}]})"};
    if (path == "/api/v1") {
      return {.body = R"({"resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true,)" + kVerbs +
                      R"(},{"name":"secrets","kind":"Secret","namespaced":true,)" + kVerbs +
                      R"(},{"name":"persistentvolumeclaims","kind":"PersistentVolumeClaim","namespaced":true,)" +
                      kVerbs + "}]}"};
    }
    if (path == "/apis/apps/v1") {
      return {.body = R"({"resources":[{"name":"deployments","kind":"Deployment","namespaced":true,)" + kVerbs + "}]}"};
    }
    std::lock_guard lock(mutex_);
    auto found = objects_.find(path);
    const bool is_list = path.ends_with("configmaps") || path.ends_with("secrets") || path.ends_with("deployments") ||
                         path.ends_with("persistentvolumeclaims");
    if (request.method == "GET" && is_list) return {.body = R"({"items":[],"metadata":{"resourceVersion":"1"}})"};
    if (request.method == "GET") {
      if (found == objects_.end()) return refusal(404, "NotFound", path + " not found");
      return {.body = write(found->second)};
    }
    if (request.method == "DELETE") {
      if (found == objects_.end()) return refusal(404, "NotFound", path + " not found");
      objects_.erase(found);
      return {.body = R"({"kind":"Status","status":"Success"})"};
    }
    std::string text = request.body, piece;
    // The server holds no body of a PUT or a PATCH.
    for (Result<bool> more = request.more != nullptr; more && *more;) {
      more = request.more(piece);
      if (more && *more) text += piece;
    }
    auto body = parse_json_value(text).value();
    const std::string place = request.method == "POST" ? path + "/" + kube::text_at(body, {"metadata", "name"}) : path;
    auto there = objects_.find(place);
    if (request.method == "POST" && there != objects_.end()) return refusal(409, "AlreadyExists", "it is there");
    if (request.method == "PUT" &&
        (there == objects_.end() || kube::text_at(there->second, {"metadata", "resourceVersion"}) !=
                                        kube::text_at(body, {"metadata", "resourceVersion"}))) {
      return refusal(409, "Conflict", "the object has been modified");
    }
    boost::json::object& metadata = body.as_object()["metadata"].as_object();
    metadata["uid"] =
        there == objects_.end() ? "u" + std::to_string(++uids_) : kube::text_at(there->second, {"metadata", "uid"});
    metadata["resourceVersion"] = std::to_string(++version_);
    if (request.target.find("dryRun=All") == std::string::npos) objects_[place] = body;
    return {.body = write(body)};
  }

  RealClock clock_;
  std::mutex mutex_;
  std::map<std::string, boost::json::value> objects_;
  int uids_ = 0;
  int version_ = 0;
  std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::deploy::executor
