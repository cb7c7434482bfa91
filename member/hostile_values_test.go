package member

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"godwit/overlay"
	"godwit/scheduler/ledger"
	"godwit/scheduler/message"
	"godwit/scheduler/schedtest"
	"godwit/task"
)

// A pool has what was seen of some kind, the newest few.
type pool[T any] struct {
	items []T
	at    int
}

// poolSize is how much of each kind is remembered: enough for all that a small swarm has
// to do with at a time, and so little that what is old goes.
const poolSize = 48

func (p *pool[T]) put(v T) {
	if len(p.items) < poolSize {
		p.items = append(p.items, v)
		return
	}
	p.items[p.at%poolSize] = v
	p.at++
}

func (p *pool[T]) any(rng *rand.Rand) (v T) {
	if len(p.items) == 0 {
		return v
	}
	return p.items[rng.IntN(len(p.items))]
}

// values makes what a hostile member's messages are made of: what it has seen, edges, and
// what it can sign.
type values struct {
	rng      *rand.Rand
	now      func() time.Time
	overlay  overlay.ID
	keys     []ed25519.PrivateKey // the first is the member's
	ids      []task.PeerID
	jobs     pool[task.JobID]
	tasks    pool[task.TaskID]
	attempts pool[message.Attempt]
	numbers  pool[uint64]
	epochs   pool[uint64]
	peers    pool[task.PeerID]
	cids     pool[task.CID]
	records  pool[task.Record]
	receipts pool[*task.Receipt]
	own      pool[*task.Receipt] // of leases that it was given, with their tasks
	ownTasks pool[task.TaskID]
	results  pool[task.Result]
	pairs    pool[message.Pair]
	bytes    pool[[]byte]
	claims   pool[claimed]
}

// A claimed is an epoch that one of the keys has claimed to lead.
type claimed struct {
	key   int
	epoch uint64
}

var (
	jobType     = reflect.TypeFor[task.JobID]()
	taskType    = reflect.TypeFor[task.TaskID]()
	attemptType = reflect.TypeFor[message.Attempt]()
	peerType    = reflect.TypeFor[task.PeerID]()
	cidType     = reflect.TypeFor[task.CID]()
	recordType  = reflect.TypeFor[task.Record]()
	receiptType = reflect.TypeFor[*task.Receipt]()
	resultType  = reflect.TypeFor[task.Result]()
	pairType    = reflect.TypeFor[message.Pair]()
	timeType    = reflect.TypeFor[task.Time]()
	durType     = reflect.TypeFor[time.Duration]()
	rangeType   = reflect.TypeFor[message.Range]()
	bytesType   = reflect.TypeFor[[]byte]()
	stateType   = reflect.TypeFor[ledger.Checkpoint]()
	digestType  = reflect.TypeFor[[message.DigestLen]byte]()
)

// whole reports whether values of a type are made whole, not field by field.
func whole(t reflect.Type) bool {
	switch t {
	case jobType, taskType, attemptType, peerType, cidType, recordType, receiptType, resultType, pairType, timeType,
		durType, rangeType, bytesType, stateType, digestType:
		return true
	}
	return false
}

// walk calls visit with every part of a value that is made whole, and with every list.
func walk(v reflect.Value, field string, visit func(v reflect.Value, field string)) {
	if whole(v.Type()) {
		visit(v, field)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), field, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("cbor") != "-" {
				walk(v.Field(i), f.Name, visit)
			}
		}
	case reflect.Slice:
		visit(v, field)
		for i := range v.Len() {
			walk(v.Index(i), field, visit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			visit(k, field)
		}
	default:
		visit(v, field)
	}
}

// see takes in what a message has.
func (g *values) see(m *message.Message) {
	walk(reflect.ValueOf(m), "", func(v reflect.Value, field string) {
		switch x := v.Interface().(type) {
		case task.JobID:
			g.jobs.put(x)
		case task.TaskID:
			g.tasks.put(x)
		case message.Attempt:
			g.attempts.put(x)
		case task.PeerID:
			g.peers.put(x)
		case task.CID:
			g.cids.put(x)
		case task.Record:
			g.records.put(x)
		case *task.Receipt:
			if x != nil {
				g.receipts.put(x)
			}
		case task.Result:
			g.results.put(x)
		case message.Pair:
			g.pairs.put(x)
		case []byte:
			g.bytes.put(x)
		case uint64:
			if field == "Epoch" {
				g.epochs.put(x)
			} else {
				g.numbers.put(x)
			}
		}
	})
}

// fill makes a value anew, of random parts. depth bounds what it has of lists in lists.
func (g *values) fill(v reflect.Value, field string, depth int) {
	if whole(v.Type()) {
		v.Set(g.whole(v.Type()))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if g.rng.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			g.fill(v.Elem(), field, depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("cbor") != "-" {
				g.fill(v.Field(i), f.Name, depth)
			}
		}
	case reflect.Slice:
		n := g.rng.IntN(3)
		if depth > 2 {
			n = 0
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			g.fill(v.Index(i), field, depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range g.rng.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			g.fill(key, field, depth+1)
			g.fill(value, field, depth+1)
			v.SetMapIndex(key, value)
		}
	default:
		g.scalar(v, field)
	}
}

// scalar makes a number, a word or a yes or no.
func (g *values) scalar(v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Uint64:
		if field == "Epoch" {
			v.SetUint(g.epoch())
		} else {
			v.SetUint(g.number())
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		v.SetUint(uint64(g.rng.IntN(6)))
	case reflect.Int, reflect.Int64:
		v.SetInt(pick[int64](g.rng, 0, 1, 2, 4, 100, 4096, -1, math.MaxInt32, math.MinInt32))
	case reflect.Bool:
		v.SetBool(g.rng.IntN(2) == 0)
	case reflect.String:
		v.SetString(g.text())
	case reflect.Float64:
		v.SetFloat(pick(g.rng, 0, 1, -1, math.MaxFloat64))
	case reflect.Array:
		for i := range v.Len() {
			g.scalar(v.Index(i), field)
		}
	}
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func (g *values) whole(t reflect.Type) reflect.Value {
	switch t {
	case jobType:
		return reflect.ValueOf(g.job())
	case taskType:
		return reflect.ValueOf(g.task())
	case attemptType:
		return reflect.ValueOf(g.attempt())
	case peerType:
		return reflect.ValueOf(g.peer())
	case cidType:
		return reflect.ValueOf(g.cid())
	case recordType:
		return reflect.ValueOf(g.records.any(g.rng))
	case receiptType:
		return reflect.ValueOf(g.receipt(g.task()))
	case resultType:
		return reflect.ValueOf(g.result(g.task()))
	case pairType:
		return reflect.ValueOf(g.pair())
	case timeType:
		return reflect.ValueOf(task.At(g.now().Add(g.duration() % (1000 * time.Hour))))
	case durType:
		return reflect.ValueOf(g.duration())
	case rangeType:
		from := g.index()
		return reflect.ValueOf(message.Range{From: from, To: from + uint64(g.rng.IntN(4))})
	case bytesType:
		return reflect.ValueOf(g.signature())
	case stateType:
		return reflect.ValueOf(*g.state(g.task()))
	}
	job := g.job()
	var d [message.DigestLen]byte
	copy(d[:], job[max(0, len(job)-message.DigestLen):])
	return reflect.ValueOf(d)
}

func (g *values) job() task.JobID { return g.jobs.any(g.rng) }

func (g *values) task() task.TaskID {
	switch g.rng.IntN(8) {
	case 0:
		return task.TaskID{Job: g.job(), Index: g.index()}
	case 1, 2, 3:
		if len(g.ownTasks.items) > 0 {
			return g.ownTasks.any(g.rng)
		}
	}
	return g.tasks.any(g.rng)
}

func (g *values) index() uint64 {
	if g.rng.IntN(8) == 0 {
		return pick(g.rng, uint64(math.MaxUint64), math.MaxUint64-1, 1<<32, 1<<20)
	}
	return uint64(g.rng.IntN(6))
}

func (g *values) attempt() message.Attempt {
	if g.rng.IntN(3) > 0 {
		a := g.attempts.any(g.rng)
		a.Seq += uint64(pick(g.rng, 0, 0, 0, 0, 1, 2))
		return a
	}
	return message.Attempt{Epoch: g.epoch(), Seq: g.number()}
}

func (g *values) number() uint64 {
	switch g.rng.IntN(10) {
	case 0:
		return pick(g.rng, uint64(math.MaxUint64), math.MaxUint64-1, 1<<53, 1<<32, 1<<63)
	case 1, 2, 3, 4:
		return uint64(g.rng.IntN(8))
	case 5:
		return g.numbers.any(g.rng) + 1
	}
	return g.numbers.any(g.rng)
}

func (g *values) epoch() uint64 {
	switch g.rng.IntN(12) {
	case 0:
		return pick(g.rng, 0, uint64(math.MaxUint64), math.MaxUint64-1, 1<<53, 1<<40, 1)
	case 1:
		return overlay.NextEpoch(g.epochs.any(g.rng), g.self())
	case 2:
		return overlay.NextEpoch(g.epochs.any(g.rng), g.peers.any(g.rng))
	case 3:
		return g.epochs.any(g.rng) + 1
	}
	return g.epochs.any(g.rng)
}

func (g *values) self() task.PeerID { return g.ids[g.rng.IntN(len(g.ids))] }

func (g *values) peer() task.PeerID {
	switch g.rng.IntN(10) {
	case 0:
		return pick(g.rng, "", "nobody", task.PeerID(strings.Repeat("x", 300)))
	case 1, 2, 3:
		return g.self()
	}
	return g.peers.any(g.rng)
}

func (g *values) cid() task.CID {
	switch g.rng.IntN(4) {
	case 0:
		return task.RawCID([]byte(g.text()))
	case 1:
		return pick[task.CID](g.rng, "", "none")
	}
	return g.cids.any(g.rng)
}

func (g *values) duration() time.Duration {
	return pick(g.rng, 0, 0, 1, time.Millisecond, time.Second, time.Hour, task.MaxDuration, task.MaxDuration+1, -1,
		math.MaxInt64, math.MinInt64)
}

func (g *values) text() string {
	return pick(g.rng, "", "x", message.JobDone, message.JobFailed, message.JobCancelled, message.JobRunning,
		message.DropRecall, message.DropSuperseded, message.DropMoved, message.DropUnknown, ledger.Moved, ledger.Overdue,
		"completed", "interrupted", "lost", "stdout", "\x1b[2J", strings.Repeat("y", 700))
}

// signature makes bytes: one that was seen, one of a cancel by its own key, or none.
func (g *values) signature() []byte {
	switch g.rng.IntN(4) {
	case 0:
		return nil
	case 1:
		return task.SignCancel(g.job(), g.key())
	case 2:
		return []byte(g.text())
	}
	return g.bytes.any(g.rng)
}

func (g *values) key() ed25519.PrivateKey { return g.keys[g.rng.IntN(len(g.keys))] }

// receipt is one that it saw, was given, or signs itself.
func (g *values) receipt(id task.TaskID) *task.Receipt {
	switch g.rng.IntN(6) {
	case 0:
		return nil
	case 1:
		return g.receipts.any(g.rng)
	case 2, 3:
		return g.own.any(g.rng)
	}
	i := g.rng.IntN(len(g.keys))
	r := task.Receipt{Epoch: g.epoch(), Seq: g.number(), Issued: g.now().UnixMilli()}
	switch c := g.claims.any(g.rng); g.rng.IntN(3) {
	case 0:
		r.Epoch = overlay.NextEpoch(g.epochs.any(g.rng), g.ids[i])
	case 1:
		i, r.Epoch = c.key, max(c.epoch, 1)
	}
	receipt, err := task.NewReceipt(g.keys[i], g.ids[i], id, g.self(), r)
	if err != nil {
		return nil
	}
	return receipt
}

// state is one that it made up; most have somebody's voucher.
func (g *values) state(id task.TaskID) *ledger.Checkpoint {
	c := &ledger.Checkpoint{CID: g.cid(), Fuel: pick(g.rng, 1, 1000, 1_000_000, g.number()), CPU: g.duration()}
	if r := g.receipt(id); r != nil {
		c.Voucher, _ = task.Vouch(g.key(), r, c.ToVouch(id, [32]byte{}, nil)) // nil of what can be no state
	}
	return c
}

// badWord calls a state bad that a lease was to go on from; nil for none.
func (g *values) badWord(id task.TaskID) *task.Voucher {
	r := g.receipt(id)
	if r == nil {
		return nil
	}
	v, err := task.Vouch(g.key(), r, task.State{Task: id, CID: r.From, Bad: true})
	if err != nil {
		return nil
	}
	return v
}

// result is one that it saw, or signs itself.
func (g *values) result(id task.TaskID) task.Result {
	if g.rng.IntN(4) == 0 {
		return g.results.any(g.rng)
	}
	outcome := task.Outcome(1 + g.rng.IntN(int(task.HostError)))
	if g.rng.IntN(2) == 0 {
		outcome = task.Completed
	}
	r := task.Result{Task: id, Outcome: outcome, Receipt: g.receipt(id), CPU: time.Second,
		Wall: time.Duration(g.rng.IntN(5)) * time.Second}
	if outcome == task.ExitFailure {
		r.ExitCode = 1
	}
	for _, name := range pick(g.rng, []string{"stdout"}, []string{"stdout"}, nil, []string{".bashrc"}) {
		b := []byte(fmt.Sprint(forged, g.rng.IntN(3)))
		o := task.Output{Name: name, CID: task.RawCID(b), Size: int64(len(b)), Inline: b}
		if g.rng.IntN(4) == 0 {
			o.Inline = nil
		}
		r.Outputs = append(r.Outputs, o)
	}
	if g.rng.IntN(16) > 0 && r.Sign(g.key()) != nil {
		return g.results.any(g.rng)
	}
	return r
}

// forged is how what a hostile member makes up begins.
const forged = "made up "

// pair is one of a ledger: seen, or made up and of the right form.
func (g *values) pair() message.Pair {
	id := g.task()
	switch g.rng.IntN(8) {
	case 0:
		return message.Pair{Key: g.text(), Value: g.bytes.any(g.rng)}
	case 1, 2:
		return g.pairs.any(g.rng)
	case 3:
		rec := g.records.any(g.rng)
		return message.Pair{Key: ledger.JobKey(rec.ID()), Value: rec.Whole()}
	case 4:
		if b, err := g.facts().Encode(); err == nil {
			return message.Pair{Key: ledger.FactsKey(id.Job), Value: b}
		}
	}
	b, err := g.row(id).Encode()
	if err != nil {
		return g.pairs.any(g.rng)
	}
	return message.Pair{Key: ledger.RowKey(id), Value: b}
}

func (g *values) facts() *ledger.Facts {
	f := &ledger.Facts{Delivery: pick[uint64](g.rng, 0, 0, 1, 2, 1023, 1024, ledger.MaxDelivery), Reruns: g.number(),
		UsefulCPU: g.duration(), WastedCPU: g.duration(), Expired: g.rng.IntN(2) == 0}
	for range g.rng.IntN(3) {
		i := g.index()
		pick(g.rng, &f.Done, &f.Failed).AddRange(ledger.Range{From: i, To: i + 1 + uint64(g.rng.IntN(4))})
	}
	if sig := g.signature(); len(sig) == ed25519.SignatureSize {
		f.Cancel = sig
	}
	return f
}

func (g *values) row(id task.TaskID) *ledger.Row {
	row := new(ledger.Row)
	for range g.rng.IntN(3) {
		r := g.result(id)
		row.AddResult(g.attempt(), r)
	}
	for range g.rng.IntN(3) {
		var l ledger.AttemptLog
		g.fill(reflect.ValueOf(&l).Elem(), "", 0)
		row.Note(l)
	}
	if g.rng.IntN(2) == 0 {
		row.Save(g.state(id))
	}
	for range g.rng.IntN(3) {
		row.SaveLine(g.state(id))
	}
	if v := g.badWord(id); v != nil && g.rng.IntN(4) == 0 {
		row.Bad, row.Round = []task.Voucher{*v}, uint64(g.rng.IntN(2))
	}
	if g.rng.IntN(4) == 0 {
		row.Void()
	}
	return row
}

// record is a job of its own.
func (g *values) record(s *swarm) task.Record {
	return schedtest.Job(s.tb, g.keys[0], uint64(1+g.rng.IntN(3)), func(j *task.Job) {
		j.Overlay = string(g.overlay)
		if g.rng.IntN(8) == 0 {
			j.Overlay = "elsewhere"
		}
		j.Replicas = 1 + g.rng.IntN(2)
		j.Priority = g.rng.IntN(3)
		if j.Priority == 0 {
			schedtest.Seal(j)
		}
		j.Submitted = task.At(g.now())
		for i := range j.Nonce {
			j.Nonce[i] = byte(g.rng.Uint32())
		}
	})
}
