// What programs have stored on this machine, by environment, bundle and customer: of deployments that are there, and of
// those that are gone, whose data the next deployment of the three takes up again.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/values.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct StoredDataQuery {
  std::string environment;  // empty: of all
  static constexpr std::string_view kDefaulted[] = {"environment"};
};
BOOST_DESCRIBE_STRUCT(StoredDataQuery, (), (environment))

struct StoredDataDocument {
  std::string storage;  // its name
  std::string environment;
  std::string bundle;
  std::string customer;
  OrNull<std::string> deployment;  // that uses it
  OrNull<lang::DateTime> since;    // when the deployment that used it was removed
  std::string folder;
  int64_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(StoredDataDocument, (),
                      (storage, environment, bundle, customer, deployment, since, folder, bytes))

std::vector<lang::View> stored_data_views();

}  // namespace sluice::deploy::views
