// Inboxes of packets: somebody touches them who is neither sender nor receiver, or a message goes
// where the one before may not have been read.
#include "core/collective/barrier.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range few{0, 8};

struct Mail {
  Desk desk;
  Packets inbox;
  Packets other;        // with the cells of the inbox, and flags of its own
  Window<float> cells;  // of the inbox, as numbers
  bool fixed;
  // The first message of the peer.
  Range first(int me) const {
    return Range{inbox.offset_bytes(0, 1 - me, 1) / sizeof(float), few.count};
  }
};

template <class Act>
struct Works {
  Mail mail;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    Act{}(block, mail);
    block.quiet();
    barrier(block, mail.desk.group);
  }
};

template <class Act>
void posts(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const Packets inbox = world.channel({1, 64}).inbox;
  Packets other = world.channel({1, 64}).inbox;
  other.cells = inbox.cells;
  world.launch(launch_of("planted", 1),
               Works<Act>{{desk, inbox, other, inbox.cells.as<float>(), fixed}});
}

template <Block B>
void exchange(B& block, const Mail& mail, const Packets& inbox) {
  block.put_packets(inbox, 0, mail.desk.b, few, mail.desk.group.team);
  block.reduce_packets(mail.desk.a, mail.desk.b, few, inbox, 0, mail.desk.group.team, Sum{});
}

// Clears the inbox while a message may arrive there.
struct Clears {
  template <Block B>
  void operator()(B& block, const Mail& mail) const {
    const auto zero = []() { return 0.0F; };
    block.transform(mail.cells, mail.first(block.pe()), zero);
    if (mail.fixed) barrier(block, mail.desk.group);
    exchange(block, mail, mail.inbox);
  }
};

// Looks at a message that it has not received; after the receipt it is the receiver's memory.
struct Peeks {
  template <Block B>
  void operator()(B& block, const Mail& mail) const {
    const std::size_t first = mail.first(block.pe()).first;
    if (!mail.fixed) (void)block.read(mail.cells, first);
    exchange(block, mail, mail.inbox);
    if (mail.fixed) (void)block.read(mail.cells, first);
  }
};

// A put to where a peer's messages come. Repaired, to the peer's other memory.
struct PutsOver {
  template <Block B>
  void operator()(B& block, const Mail& mail) const {
    const Range first = mail.first(1 - block.pe());
    const Window<float> to = mail.fixed ? mail.desk.a.at(32) : mail.cells.at(first.first);
    block.put(to, mail.desk.b, few, 1 - block.pe());
    exchange(block, mail, mail.inbox);
  }
};

// Two inboxes with flags of their own share cells, and nothing orders their messages.
struct SharesCells {
  template <Block B>
  void operator()(B& block, const Mail& mail) const {
    exchange(block, mail, mail.inbox);
    if (mail.fixed) barrier(block, mail.desk.group);
    exchange(block, mail, mail.other);
  }
};

// What a sender knows of its peer when it has taken one message of it is enough for two buffers.
struct OneBuffer {
  template <Block B>
  void operator()(B& block, const Mail& mail) const {
    for (int round = 0; round < 4; ++round)
      exchange(block, mail, mail.fixed ? mail.inbox : mail.inbox.in_one_buffer());
  }
};

// Messages one way, and nothing that says that they are read. Repaired, the receiver answers with
// messages of no elements.
struct NeverAnswered {
  template <Block B>
  void operator()(B& block, const Mail& mail) const {
    const Team& team = mail.desk.group.team;
    const Range nothing{0, 0};
    const auto a = per_member(mail.desk.a, few.count), b = per_member(mail.desk.b, 0);
    for (int round = 0; round < 5; ++round) {
      if (block.pe() == 0) {
        block.put_packets(mail.inbox, 0, b, few, team);
        if (mail.fixed) block.receive_packets(a, b.first, nothing, mail.inbox, 0, team);
      } else {
        if (mail.fixed) block.put_packets(mail.inbox, 0, b, nothing, team);
        block.receive_packets(a, a.first.at(32), few, mail.inbox, 0, team);
      }
    }
  }
};

// One buffer for good, which a barrier at the end of each launch makes right.
struct OneBufferForGood {
  Mail mail;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    exchange(block, mail, mail.inbox.in_one_buffer());
    if (mail.fixed) barrier(block, mail.desk.group);
    block.quiet();
  }
};
void one_buffer_for_good(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const Packets inbox = world.channel({1, 64}).inbox;
  const Mail mail{desk, inbox, inbox, inbox.cells.as<float>(), fixed};
  for (int launch = 0; launch < 3; ++launch)
    world.launch(launch_of("planted", 1), OneBufferForGood{mail});
}

}  // namespace

std::vector<Program> packet_programs() {
  const std::string inbox = "channel #1 inbox cells";
  const std::string hint = "touch an inbox";
  return {{"inbox_cleared", "race", 2, posts<Clears>, {"transform", "put_packets", inbox}, hint},
          {"inbox_peeked", "race", 2, posts<Peeks>, {"read", "put_packets", inbox}, hint},
          {"inbox_put_over", "race", 2, posts<PutsOver>, {"put", "_packets", inbox}, hint},
          {"inbox_shared", "race", 2, posts<SharesCells>, {"_packets", inbox}, hint},
          {"packets_unanswered",
           "error",
           2,
           posts<NeverAnswered>,
           {"put_packets", "message 2 to PE 1", "receive its message"}},
          {"one_buffer", "race", 2, posts<OneBuffer>, {"_packets", inbox}, "two buffers"},
          {"one_buffer_for_good", "race", 2, one_buffer_for_good, {"_packets", inbox}, "barrier"}};
}

}  // namespace sym::caught
