// A name is more often that of a bundle.
#include "cli/deployment_name.h"

#include <boost/json.hpp>

namespace sluice::cli {

Result<deploy::views::MeantNames> deployment_named(Context& context, CommandDoor& door) {
  const std::string name = context.given.text("deployment");
  json::object query{{"environment", context.given.text("env")}, {"bundle", name}};
  if (context.given.has("customer-id")) query["customer"] = context.given.text("customer-id");
  auto meant = door.read<deploy::views::MeantNames>("names", query);
  if (meant || meant.error().code != Code::not_found) return meant;
  query.erase("bundle");
  query["deployment"] = name;
  auto by_id = door.read<deploy::views::MeantNames>("names", query);
  return by_id || by_id.error().code != Code::not_found ? by_id : meant;
}

}  // namespace sluice::cli
