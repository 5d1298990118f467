// Trial: what became of a run that had come to a stand when nothing had to wait for a turn.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sym::fiber {

struct Agent;

struct Trial {
  // One that had not begun, because it had no place or because of the launches before its own.
  struct Released {
    bool place = false;               // it had been launched and had no place
    std::vector<const Agent*> ahead;  // what it would have had to wait for
    std::string mark = {};            // ... if that is a mark of another queue: which
  };
  // It came to a stand again and found nothing: who is not in `freed` waits for something else.
  bool conclusive = true;
  std::set<const Agent*> freed;  // waited, and went on
  std::map<const Agent*, Released> released;
};

}  // namespace sym::fiber
