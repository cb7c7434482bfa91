// Hosts that come and go and the tasks they run, in SimGrid: what scripts/bench sim
// measures this project's simulator beside.
//
//   hosts (timers|actors) WORKLOAD RUNS
//
// WORKLOAD says when hosts come and go and when tasks come, in nanoseconds: the end of the run, the
// length of a task, the number of hosts, of each how many changes it has and their times
// (it is there from the first on), and how many tasks come and when. None means that a
// task always waits. Tasks go in order to the idle host with the least number; one whose host
// leaves is lost.
//
// "timers" uses nothing of SimGrid but its clock and its timers, one for the next change
// of each host and one for each task's end. "actors" has an actor for each host, which
// sleeps until its task ends or it leaves. Each run prints a line: seconds of
// processor time without what making the hosts took, tasks begun, ended and lost.
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace {

struct Machine {
  std::vector<double> changes; // seconds; there from the first to the second, and so on
  size_t next  = 0;
  bool there   = false;
  bool running = false;
  Timer* end   = nullptr;
  // Of actors alone:
  double until = 0; // when its task ends
  sg::MutexPtr mutex;
  sg::ConditionVariablePtr given;
};

double finish, work;
std::vector<Machine> machines;
std::vector<double> arrivals;
bool always; // a task waits
size_t waiting, begun, ended, lost;

// The machines that are there and idle, a bit each, and a bit for each word that is not 0.
std::vector<uint64_t> idle_bits, idle_words;

void set_idle(size_t i) {
  idle_bits[i / 64] |= uint64_t(1) << (i % 64);
  idle_words[i / 4096] |= uint64_t(1) << (i / 64 % 64);
}

void set_busy(size_t i) {
  if ((idle_bits[i / 64] &= ~(uint64_t(1) << (i % 64))) == 0)
    idle_words[i / 4096] &= ~(uint64_t(1) << (i / 64 % 64));
}

// The first idle machine, or -1.
long first_idle() {
  for (size_t k = 0; k < idle_words.size(); k++)
    if (idle_words[k] != 0) {
      size_t word = k * 64 + __builtin_ctzll(idle_words[k]);
      return word * 64 + __builtin_ctzll(idle_bits[word]);
    }
  return -1;
}

// Says whether a machine that is free has a task to begin; if not, it is idle.
bool takes(size_t i) {
  if (!always) {
    if (waiting == 0) {
      set_idle(i);
      return false;
    }
    waiting--;
  }
  begun++;
  machines[i].running = true;
  return true;
}

// --- timers

void begin(size_t i);

void at_end(size_t i) {
  ended++;
  machines[i].running = false;
  machines[i].end     = nullptr;
  if (takes(i))
    begin(i);
}

// Ends after the run are not set, nor are those of Godwit.
void begin(size_t i) {
  double at = sg::Engine::get_clock() + work;
  if (at <= finish)
    machines[i].end = Timer::set(at, [i] { at_end(i); });
}

void plan(size_t i);

void at_change(size_t i) {
  Machine& m = machines[i];
  m.next++;
  m.there = !m.there;
  if (m.there) {
    if (takes(i))
      begin(i);
  } else if (m.running) {
    lost++;
    m.running = false;
    if (m.end != nullptr) {
      m.end->remove();
      m.end = nullptr;
    }
  } else {
    set_busy(i);
  }
  plan(i);
}

void plan(size_t i) {
  Machine& m = machines[i];
  if (m.next < m.changes.size() && m.changes[m.next] < finish)
    Timer::set(m.changes[m.next], [i] { at_change(i); });
}

size_t arrived;

void await_arrival();

void at_arrival() {
  arrived++;
  long i = first_idle();
  waiting++;
  if (i >= 0) {
    set_busy(i);
    takes(i);
    begin(i);
  }
  await_arrival();
}

void await_arrival() {
  if (arrived < arrivals.size())
    Timer::set(arrivals[arrived], at_arrival);
}

void with_timers(sg::Engine&, sg::Host* host) {
  for (size_t i = 0; i < machines.size(); i++)
    plan(i);
  await_arrival();
  // The engine goes on while there is somebody.
  sg::Actor::create("clock", host, [] { sg::this_actor::sleep_until(finish); });
}

// --- actors

void worker(size_t i) {
  Machine& m = machines[i];
  std::unique_lock<sg::Mutex> lock;
  if (!always)
    lock = std::unique_lock<sg::Mutex>(*m.mutex);
  for (size_t k = 0; k < m.changes.size() && m.changes[k] < finish; k += 2) {
    sg::this_actor::sleep_until(m.changes[k]);
    double leaves = k + 1 < m.changes.size() ? m.changes[k + 1] : std::numeric_limits<double>::infinity();
    m.there       = true;
    for (;;) {
      if (!takes(i)) {
        m.given->wait_until(lock, std::min(leaves, finish));
        if (!m.running) {
          set_busy(i);
          break;
        }
      }
      double end = sg::Engine::get_clock() + work;
      if (end > finish && leaves >= finish)
        return;
      sg::this_actor::sleep_until(std::min(end, leaves));
      m.running = false;
      if (end > leaves) {
        lost++;
        break;
      }
      ended++; // at the instant at which it leaves another begins, and is lost
    }
    m.there = false;
    if (leaves >= finish)
      return;
  }
}

void dispatcher() {
  for (double at : arrivals) {
    sg::this_actor::sleep_until(at);
    waiting++;
    long i = first_idle();
    if (i < 0)
      continue;
    set_busy(i);
    takes(i);
    machines[i].given->notify_one();
  }
}

void with_actors(sg::Engine& engine, sg::Host*) {
  std::vector<sg::Host*> hosts = engine.get_all_hosts();
  for (size_t i = 0; i < machines.size(); i++) {
    if (!always) {
      machines[i].mutex = sg::Mutex::create();
      machines[i].given = sg::ConditionVariable::create();
    }
    sg::Actor::create("worker", hosts[i], worker, i);
  }
  if (!always)
    sg::Actor::create("dispatcher", hosts[0], dispatcher);
}

// --- the run

double processor_time() {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void read_workload(const char* path) {
  std::ifstream in(path);
  int64_t ns;
  size_t n, changes;
  auto seconds = [&in, &ns] { in >> ns; return 1e-9 * double(ns); };
  finish = seconds();
  work   = seconds();
  in >> n;
  machines.resize(n);
  idle_bits.resize((n + 63) / 64);
  idle_words.resize((idle_bits.size() + 63) / 64);
  for (Machine& m : machines) {
    in >> changes;
    m.changes.resize(changes);
    for (double& at : m.changes)
      at = seconds();
  }
  in >> n;
  arrivals.resize(n);
  for (double& at : arrivals)
    at = seconds();
  always = arrivals.empty();
  if (!in) {
    fprintf(stderr, "%s is no workload\n", path);
    exit(2);
  }
}

void run(const char* how, const char* path) {
  read_workload(path);
  // Small stacks and no checks of sleeps are the quickest that it has.
  std::string name = "hosts", stacks = "--cfg=contexts/stack-size:64", guard = "--cfg=contexts/guard-size:0",
              quiet = "--log=root.thresh:critical";
  char* args[] = {&name[0], &stacks[0], &guard[0], &quiet[0], nullptr};
  int count    = 4;
  sg::Engine engine(&count, args);
  auto* zone = sg::create_full_zone("world");
  for (size_t i = 0; i < machines.size(); i++)
    zone->create_host("host-" + std::to_string(i), 1e9);
  zone->seal();
  double before = processor_time();
  if (strcmp(how, "timers") == 0)
    with_timers(engine, engine.get_all_hosts()[0]);
  else
    with_actors(engine, nullptr);
  engine.run_until(finish);
  printf("%.6f %zu %zu %zu\n", processor_time() - before, begun, ended, lost);
  fflush(stdout);
  _exit(0); // nothing of it is taken down
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4 || (strcmp(argv[1], "timers") != 0 && strcmp(argv[1], "actors") != 0)) {
    fprintf(stderr, "usage: %s (timers|actors) WORKLOAD RUNS\n", argv[0]);
    return 2;
  }
  // An engine runs once: each run is a process.
  for (int k = atoi(argv[3]); k > 0; k--) {
    pid_t child = fork();
    if (child == 0)
      run(argv[1], argv[2]);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      return 1;
  }
  return 0;
}
