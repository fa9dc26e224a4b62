// Structs, whatever their members.
#include "base/json_writer.h"

namespace sluice::writer {

json::object write_members(std::span<const Member> members) {
  json::object object;
  object.reserve(members.size());
  for (const Member& member : members) member.write(member.at, member.name, object);
  return object;
}

}  // namespace sluice::writer
