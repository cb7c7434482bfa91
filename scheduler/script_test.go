package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/scheduler/place"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// TestCoordinatorScripts runs the scripts in testdata against a coordinator.
// Hosts and jobs have short names; the submitter of every job is "owner".
//
//	host NAME up [slots=N] [memory=MiB] [speed=F] [site=S] | host NAME lost
//	submit JOB tasks=N [replicas=N] [retries=N] [memory=MiB] [priority=N] [weight=N] [deadline=D]
//	       [every=N] [by=OWNER] [class=C]
//	govern [placement=P] [migration=M] [predictor=P] [fairness=(F)] [chunking=(C)] | forecast NAME P
//	report NAME [slots=N] [state=S] [withheld=N] [running] [fixed]   everything the host was given and has not ended
//	host NAME up hands                as one that hands tasks over; report NAME [awaiting] [moving]
//	unmoved NAME JOB/INDEX why        the last order to hand it over came to nothing
//	handed NAME JOB/INDEX             it was carried out
//	end NAME JOB/INDEX [OUTCOME]      a result; says=X changes its output, fetch its size, cpu and wall its seconds
//	ran NAME JOB N wall=D             one report of the results of N tasks, the first that it holds
//	chunks JOB                        what each host has of the job's chunks
//	again NAME JOB/INDEX [OUTCOME]    reports the last result once more
//	refuse NAME JOB/INDEX why
//	fetched [error]                   answers the fetches that wait
//	got JOB                           the owner holds all that was sent
//	cancel JOB | advance D [reporting=NAME] | restart
//	why JOB/INDEX | job JOB | wake
//	assume CLASS NAME=RATE ...        before its first job: rates a second that are known beforehand
//	rates                             classes, members with their rates, and the allocation
//	slots                             who holds how many at which site
//
// Each prints the effects, without the persisted values and empty Acks.
func TestCoordinatorScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newScript(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.d, s.out = t, d, strings.Builder{}
			s.run()
			return s.out.String()
		})
	})
}

type script struct {
	t    *testing.T
	d    *datadriven.TestData
	out  strings.Builder
	now  time.Time
	c    *Coordinator
	disk map[string][]byte

	ids     map[string]task.PeerID // by name
	jobs    map[string]task.JobID
	names   map[string]string // by ID, of peers and jobs
	held    map[string]map[task.TaskID]message.Attempt
	slots   map[string]int
	states  map[string]overlay.State
	rules   Rules
	stay    map[task.PeerID]float64 // forecasts
	fetches []string
	ended   message.Attempt // of the last result
	sent    map[task.JobID][]message.Range
	hands   map[string]bool
	orders  map[task.TaskID]message.MoveOrder   // the last
	after   map[message.Attempt]message.Attempt // that each awaits
}

func newScript(t *testing.T) *script {
	s := &script{
		t: t, now: schedtest.Start, disk: map[string][]byte{}, ids: map[string]task.PeerID{}, jobs: map[string]task.JobID{},
		names: map[string]string{},
		held:  map[string]map[task.TaskID]message.Attempt{}, slots: map[string]int{}, states: map[string]overlay.State{},
		stay: map[task.PeerID]float64{}, sent: map[task.JobID][]message.Range{},
		hands: map[string]bool{}, orders: map[task.TaskID]message.MoveOrder{}, after: map[message.Attempt]message.Attempt{},
	}
	s.c = NewCoordinator(s.peer("leader"), scripted(), 1)
	s.c.Foresee(s)
	return s
}

// Stay implements place.Forecast.
func (s *script) By(string) place.Forecast { return s }

func (s *script) Stay(peer task.PeerID, _ time.Time, _ time.Duration) (float64, bool) {
	p, known := s.stay[peer]
	if !known {
		p = 1
	}
	return p, known
}

// scripted is the configuration of scripts: where their rules name no policies,
// tasks go to the fastest member and stay there, which is told in few words.
func scripted() Config {
	cfg := Default()
	cfg.Placement, cfg.Migration = "fcfs", ""
	return cfg
}

// peer returns the identity of a name; the name's letters are its number.
func (s *script) peer(name string) task.PeerID {
	if _, ok := s.ids[name]; !ok {
		_, id := schedtest.Identity(number(name))
		s.ids[name], s.names[string(id)] = id, name
		s.held[name] = map[task.TaskID]message.Attempt{}
	}
	return s.ids[name]
}

func number(name string) int {
	n := 0
	for _, c := range []byte(name) {
		n = n<<8 | int(c)
	}
	return n
}

func (s *script) run() {
	arg := func(i int) string {
		if i >= len(s.d.CmdArgs) {
			s.d.Fatalf(s.t, "%s wants %d arguments", s.d.Cmd, i+1)
		}
		return s.d.CmdArgs[i].Key
	}
	switch s.d.Cmd {
	case "host":
		s.host(arg(0), arg(1))
	case "govern":
		s.rules = Rules{Placement: s.text("placement"), Migration: s.text("migration"), Predictor: s.text("predictor"),
			Fairness: s.list("fairness"),
			Chunking: s.list("chunking"), SlotsEach: s.num("slotseach", 0)}
		if err := s.c.Govern(s.rules); err != nil {
			fmt.Fprintln(&s.out, err)
		}
	case "forecast":
		p, err := strconv.ParseFloat(arg(1), 64)
		if err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		s.stay[s.peer(arg(0))] = p
	case "submit":
		s.submit(arg(0))
	case "chunks":
		s.chunks(s.jobs[arg(0)])
	case "ran":
		s.ran(arg(0), s.jobs[arg(1)], arg(2))
	case "report":
		s.report(arg(0))
	case "end":
		id := s.taskID(arg(1))
		s.ended = s.take(arg(0), id)
		s.end(arg(0), id, s.ended)
	case "unmoved":
		o := s.orders[s.taskID(arg(1))]
		s.say(arg(0), &message.Report{Slots: s.slots[arg(0)],
			Unmoved: []message.Unmoved{{Task: o.Task, Attempt: o.Attempt, As: o.As, Reason: arg(2)}}})
	case "handed":
		s.handed(arg(0), s.orders[s.taskID(arg(1))])
	case "again":
		s.end(arg(0), s.taskID(arg(1)), s.ended)
	case "saved":
		id := s.taskID(arg(1))
		fuel := s.num("fuel", 1)
		s.say(arg(0), &message.Report{Slots: s.slots[arg(0)],
			Saved: []message.SavedState{{Task: id, Attempt: s.held[arg(0)][id], Checkpoint: message.Checkpoint{
				CID: task.RawCID([]byte(fmt.Sprint(id, fuel))), Fuel: uint64(fuel), CPU: time.Duration(fuel) * time.Second,
			}}}})
	case "log":
		id := s.taskID(arg(0))
		st, _ := s.c.Job(id.Job, message.Page{From: id.Index, Limit: 1})
		for _, a := range st.TasksList[0].Attempts {
			fmt.Fprintln(&s.out, strings.TrimRight(fmt.Sprintf("%s checkpoint=%v saved=%vs %s %s", s.rename(string(a.Worker)),
				a.FromCheckpoint, a.SavedCPU, a.Outcome, s.rename(string(a.MovedTo))), " "))
			if a.MovedBytes > 0 {
				fmt.Fprintf(&s.out, "  %d bytes, %v s down\n", a.MovedBytes, a.DownS)
			}
		}
	case "refuse":
		id := s.taskID(arg(1))
		s.say(arg(0), &message.Report{Slots: s.slots[arg(0)],
			Refused: []message.Refusal{{Task: id, Attempt: s.take(arg(0), id), Reason: arg(2)}}})
	case "fetched":
		keys := s.fetches
		s.fetches = nil
		for _, key := range keys {
			s.step(message.Fetched{Key: key, Err: s.text("error")})
		}
	case "got":
		id := s.jobs[arg(0)]
		s.step(&message.Received{From: s.peer("owner"),
			Message: &message.Message{Got: &message.Got{Job: id, Have: s.sent[id]}}})
	case "cancel":
		key, _ := schedtest.Identity(number(s.text("by", "owner")))
		id := s.jobs[arg(0)]
		s.step(&message.Received{From: s.peer("owner"),
			Message: &message.Message{Cancel: &message.Cancel{Job: id, Signature: task.SignCancel(id, key),
				Soon: s.text("soon") != ""}}})
	case "advance":
		s.advance(arg(0))
	case "restart":
		s.c = NewCoordinator(s.peer("leader"), scripted(), 1)
		s.c.Foresee(s)
		if err := s.c.Govern(s.rules); err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		effects, err := s.c.Restore(s.disk)
		if err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		s.show(effects)
	case "why":
		id := s.taskID(arg(0))
		for _, w := range s.c.Why(id.Job, id.Index) {
			fmt.Fprintln(&s.out, s.rename(fmt.Sprint(w.Reason, " ", w.Peers)))
		}
	case "assume":
		s.assume(arg(0))
	case "rates":
		s.showScheduling()
	case "slots":
		s.showSlots()
	case "job":
		var page message.Page
		s.d.MaybeScanArgs(s.t, "tasks", &page.Limit)
		st, _ := s.c.Job(s.jobs[arg(0)], page)
		fmt.Fprintf(&s.out, "%s %+v reruns=%d useful=%v wasted=%v held=%d final=%v", st.State, st.Tasks, st.Reruns,
			st.UsefulCPU, st.WastedCPU, st.Held, st.Final)
		if st.Migrations > 0 {
			fmt.Fprintf(&s.out, " moved=%d", st.Migrations)
		}
		fmt.Fprintln(&s.out)
		for _, t := range st.TasksList {
			fmt.Fprintf(&s.out, "%d %s %.2f\n", t.Index, t.State, t.Completed)
		}
	default:
		s.d.Fatalf(s.t, "unknown command %s", s.d.Cmd)
	}
}

func (s *script) text(key string, otherwise ...string) string {
	var v string
	if !s.d.MaybeScanArgs(s.t, key, &v) && len(otherwise) > 0 {
		return otherwise[0]
	}
	return v
}

// list is a value with commas in it, written in parentheses.
func (s *script) list(key string) string {
	for _, a := range s.d.CmdArgs {
		if a.Key == key {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

// showSlots writes what jobs hold, by site.
func (s *script) showSlots() {
	for _, name := range slices.Sorted(maps.Keys(s.jobs)) {
		j := s.c.table.jobs[s.jobs[name]]
		at := map[string]int{}
		for _, t := range j.live {
			for _, l := range t.leases {
				at[l.host.site]++
			}
		}
		fmt.Fprintf(&s.out, "%s:", name)
		for _, site := range slices.Sorted(maps.Keys(at)) {
			fmt.Fprintf(&s.out, " %s=%d", cmp.Or(site, "-"), at[site])
		}
		fmt.Fprintln(&s.out)
	}
}

// cpu is the CPU time that an attempt is to have used.
func (s *script) cpu() time.Duration { return time.Duration(s.num("cpu", 1)) * time.Second }

func (s *script) num(key string, otherwise int) int {
	if n, err := strconv.Atoi(s.text(key)); err == nil {
		return n
	}
	return otherwise
}

func (s *script) taskID(text string) task.TaskID {
	job, index, _ := strings.Cut(text, "/")
	i, err := strconv.ParseUint(index, 10, 64)
	if err != nil || s.jobs[job] == "" {
		s.d.Fatalf(s.t, "no task %s", text)
	}
	return task.TaskID{Job: s.jobs[job], Index: i}
}

func (s *script) host(name, what string) {
	id := s.peer(name)
	if what == "lost" {
		s.step(message.MemberLost{Peer: id, Reason: "connection reset"})
		return
	}
	s.slots[name] = s.num("slots", 1)
	s.hands[name] = s.d.HasArg("hands")
	speed, err := strconv.ParseFloat(s.text("speed", "1"), 64)
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	s.step(message.MemberSeen{Advert: overlay.Advert{Peer: id, Memory: int64(s.num("memory", 1024)) << 20, Speed: speed,
		Site: s.text("site")}})
	s.report(name)
}

func (s *script) submit(name string) {
	key, owner := schedtest.Identity(number(s.text("by", "owner")))
	s.peer(s.text("by", "owner"))
	deadline, err := time.ParseDuration(s.text("deadline", "0s"))
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	work, err := time.ParseDuration(s.text("work", "1m"))
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	rec := schedtest.Job(s.t, key, uint64(s.num("tasks", 1)), func(j *task.Job) {
		j.Name, j.Work, j.Submitted, j.Deadline = name, work, task.At(s.now), deadline
		j.Replicas, j.Retries, j.Priority = s.num("replicas", 1), s.num("retries", 0), s.num("priority", 0)
		j.Memory, j.Weight, j.Slots = int64(s.num("memory", 1))<<20, s.num("weight", 0), s.num("slots", 0)
		j.Checkpoint.Every = time.Duration(s.num("every", 0)) * time.Second
		j.Class = s.text("class")
	})
	s.jobs[name] = rec.ID()
	s.names[string(rec.ID())] = name
	s.step(&message.Received{From: owner, Message: &message.Message{Submit: &message.Submit{Record: rec}}})
}

// take ends the host's hold of a task and returns its attempt.
func (s *script) take(name string, id task.TaskID) message.Attempt {
	a, ok := s.held[name][id]
	if !ok {
		s.d.Fatalf(s.t, "%s does not hold %v", name, id)
	}
	delete(s.held[name], id)
	return a
}

// handed ends an attempt as one whose guest runs on elsewhere.
func (s *script) handed(name string, o message.MoveOrder) {
	key, worker := schedtest.Identity(number(name))
	delete(s.held[name], o.Task)
	r := task.Result{Task: o.Task, Worker: worker, Outcome: task.Interrupted, CPU: s.cpu(), Wall: time.Second}
	if err := r.Sign(key); err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	d := &message.Handed{To: o.To, As: o.As, Bytes: 1 << 20, Took: 3 * time.Second, Down: 40 * time.Millisecond}
	s.say(name, &message.Report{Slots: s.slots[name], Ended: []message.Ending{{Attempt: o.Attempt, Result: r, Handed: d}}})
}

func (s *script) say(name string, r *message.Report) {
	r.Hands = s.hands[name]
	r.State, r.Withheld = uint8(s.states[name]), s.num("withheld", 0)
	s.step(&message.Received{From: s.peer(name), Message: &message.Message{Report: r}})
}

func (s *script) report(name string) {
	s.slots[name] = s.num("slots", s.slots[name])
	if text := s.text("state"); text != "" {
		state := s.states[name]
		if err := state.UnmarshalText([]byte(text)); err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		s.states[name] = state
	}
	r := &message.Report{Slots: s.slots[name], Full: true, Born: int64(1 + s.num("born", 0))}
	if r.Born > 1 {
		clear(s.held[name])
	}
	for id, a := range s.held[name] {
		h := message.Held{Task: id, Attempt: a, Running: s.d.HasArg("running"), Fixed: s.d.HasArg("fixed"),
			Awaiting: s.d.HasArg("awaiting"), After: s.after[a]}
		if s.d.HasArg("moving") {
			h.Moving = s.orders[id].As
		}
		r.Held = append(r.Held, h)
	}
	slices.SortFunc(r.Held, func(a, b message.Held) int { return a.Attempt.Compare(b.Attempt) })
	s.say(name, r)
}

func (s *script) end(name string, id task.TaskID, a message.Attempt) {
	key, worker := schedtest.Identity(number(name))
	r := task.Result{Task: id, Worker: worker, Outcome: task.Completed, CPU: s.cpu(),
		Wall: time.Duration(s.num("wall", 1)) * time.Second}
	if len(s.d.CmdArgs) > 2 {
		if err := r.Outcome.UnmarshalText([]byte(s.d.CmdArgs[2].Key)); err == nil && r.Outcome == task.ExitFailure {
			r.ExitCode = 1
		}
	}
	if says := s.text("says", "x"); s.num("fetch", 0) > 0 {
		r.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID([]byte(says)), Size: int64(s.num("fetch", 0))}}
	} else if r.Outcome == task.Completed {
		r.Outputs = []task.Output{{Name: "stdout", CID: task.RawCID([]byte(says)), Size: int64(len(says)),
			Inline: []byte(says)}}
	}
	if err := r.Sign(key); err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	s.say(name, &message.Report{Slots: s.slots[name], Ended: []message.Ending{{Attempt: a, Result: r}}})
}

// chunks prints what each host has of a job's chunks.
func (s *script) chunks(id task.JobID) {
	k := s.c.table.jobs[id].chunks
	if k == nil {
		fmt.Fprintln(&s.out, "none")
		return
	}
	for _, h := range slices.SortedFunc(maps.Keys(k.portions), byPeer) {
		p := k.portions[h]
		fmt.Fprintf(&s.out, "%s has %d, was given %d: %v\n", s.names[string(h.peer)], p.held, p.given, p.why)
	}
}

// ran reports the first tasks of a job that the host holds as completed.
func (s *script) ran(name string, job task.JobID, count string) {
	key, worker := schedtest.Identity(number(name))
	wall, err := time.ParseDuration(s.text("wall"))
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	n, err := strconv.Atoi(count)
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	r := &message.Report{Slots: s.slots[name]}
	for _, id := range slices.SortedFunc(maps.Keys(s.held[name]),
		func(a, b task.TaskID) int { return cmp.Compare(a.Index, b.Index) }) {
		if id.Job != job || len(r.Ended) == n {
			continue
		}
		res := task.Result{Task: id, Worker: worker, Outcome: task.Completed, CPU: wall, Wall: wall}
		if err := res.Sign(key); err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		r.Ended = append(r.Ended, message.Ending{Attempt: s.take(name, id), Result: res})
	}
	s.say(name, r)
}

// advance lets time pass, waking the coordinator when it asks for it.
func (s *script) advance(by string) {
	d, err := time.ParseDuration(by)
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	end := s.now.Add(d)
	for {
		at, ok := s.c.NextWake()
		if name := s.text("reporting"); name != "" && (!ok || at.After(s.now.Add(time.Second))) &&
			!s.now.Add(time.Second).After(end) {
			s.now = s.now.Add(time.Second)
			for _, name := range strings.Split(name, ",") {
				s.report(name)
			}
			continue
		}
		if !ok || at.After(end) {
			break
		}
		if at.After(s.now) {
			s.now = at
		}
		s.step(message.Wake{})
	}
	s.now = end
}

func (s *script) step(ev message.Event) { s.show(s.c.Step(s.now, ev)) }

func (s *script) rename(text string) string {
	for _, id := range slices.Sorted(maps.Keys(s.names)) {
		text = strings.ReplaceAll(text, id, s.names[id])
	}
	return text
}

func (s *script) show(effects []message.Effect) {
	for _, e := range effects {
		if line := s.describe(e); line != "" {
			fmt.Fprintf(&s.out, "%v %s\n", s.now.Sub(schedtest.Start), s.rename(line))
		}
	}
}

func (s *script) describe(e message.Effect) string {
	switch e := e.(type) {
	case message.Persist:
		if e.Value == nil {
			delete(s.disk, e.Key)
			return "forget " + e.Key
		}
		s.disk[e.Key] = e.Value
		return "persist " + e.Key
	case message.Fetch:
		s.fetches = append(s.fetches, e.Key)
		return fmt.Sprint("fetch ", len(e.CIDs), " from ", e.Holders)
	case message.Send:
		if text := s.message(e.To, &e.Message); text != "ack" { // which only says "heard"
			return "to " + string(e.To) + ": " + text
		}
	case message.Release:
		return "release " + string(e.Job)
	case message.Decided:
		return strings.TrimSpace(fmt.Sprintf("%s %v %s %s", e.Action, e.Task, e.Peer, e.Reason))
	}
	return ""
}

func (s *script) message(to task.PeerID, m *message.Message) string {
	var b strings.Builder
	host := s.names[string(to)]
	switch {
	case m.Accepted != nil:
		fmt.Fprintf(&b, "accepted %s %s", m.Accepted.Job, m.Accepted.Error)
	case m.Progress != nil:
		p := m.Progress
		fmt.Fprintf(&b, "progress %s %s %d/%d failed=%d:", p.Job, p.Summary.State, p.Summary.Done, p.Summary.Total,
			p.Summary.Failed)
		for _, t := range p.Tasks {
			s.sent[p.Job] = append(s.sent[p.Job], message.Range{From: t.Index, To: t.Index + 1})
			fmt.Fprintf(&b, " %d", t.Index)
			if t.Failed {
				fmt.Fprintf(&b, " (%s)", t.Reason)
			}
		}
	case m.Place != nil:
		fmt.Fprint(&b, "place")
		for _, l := range m.Place.Leases {
			s.held[host][l.Task] = l.Attempt
			fmt.Fprintf(&b, " %v#%d.%d", l.Task, l.Attempt.Epoch, l.Attempt.Seq)
			if a := l.Await; a != nil {
				s.after[l.Attempt] = a.Attempt
				fmt.Fprintf(&b, " awaits #%d.%d of %s", a.Attempt.Epoch, a.Attempt.Seq, a.Worker)
			}
		}
	case m.Ack != nil:
		fmt.Fprint(&b, "ack")
		for _, n := range m.Ack.Ended {
			fmt.Fprintf(&b, " %v", n.Task)
		}
		for _, n := range m.Ack.Drop {
			fmt.Fprintf(&b, " drop %v (%s)", n.Task, n.Reason)
			if n.Reason != message.DropRecall && n.Reason != message.DropMoved {
				delete(s.held[host], n.Task)
			}
		}
		for _, o := range m.Ack.Moves {
			s.orders[o.Task] = o
			fmt.Fprintf(&b, " hand %v#%d.%d over to %s as #%d.%d urgent=%v", o.Task, o.Attempt.Epoch, o.Attempt.Seq, o.To,
				o.As.Epoch, o.As.Seq, o.Urgent)
		}
	}
	return strings.TrimSpace(b.String())
}
