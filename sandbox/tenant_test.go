package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// processOf returns the process that a task ran in: the child that became idle last.
func processOf(t testing.TB, p *Pool, tk Task) int {
	t.Helper()
	run(t, p, tk)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle[len(p.idle)-1].cmd.Process.Pid
}

// A process that has run a guest runs guests of the same tenant only, whichever part of the tenant differs, and holds
// no input of another.
func TestProcessServesOneTenant(t *testing.T) {
	p := newTestPool(t)
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	task := noop.task(t, "job/0")
	of := func(x Tenant) Task {
		tk := task
		tk.Tenant = x
		return tk
	}
	alice := Tenant{"alice", "closed", "key"}
	first := of(alice)
	first.Files = []Input{{Name: "in.csv", Path: secret}}
	own := processOf(t, p, first)
	used := []int{own}
	for _, other := range []Tenant{{}, {"mallory", "closed", "key"}, {"alice", "open", "key"}, {"alice", "closed", ""}} {
		pid := processOf(t, p, of(other))
		if slices.Contains(used, pid) {
			t.Errorf("%+v ran in the process of another tenant", other)
		}
		if n := len(p.idle[len(p.idle)-1].held); n > 0 {
			t.Errorf("the process of %+v holds %d inputs of others", other, n)
		}
		used = append(used, pid)
		if other.Submitter == "alice" { // keep alice's process idle: only DefaultMaxIdle stay
			if pid := processOf(t, p, of(alice)); pid != own {
				t.Errorf("alice's next task ran in process %d, want her own, %d", pid, own)
			}
		}
	}
}

// A process that has only compiled a module serves any tenant, and belongs to that tenant from then on. A tenant whose
// own process is idle leaves it to others.
func TestPreparedProcessServesAnyTenant(t *testing.T) {
	p := newTestPool(t, func(c *Config) { c.CacheDir = t.TempDir() })
	alice, bob := noop.task(t, "job/0"), Task{}
	alice.Tenant = Tenant{Submitter: "alice"}
	bob = alice
	bob.Tenant = Tenant{Submitter: "bob"}
	own := processOf(t, p, alice)
	ready := alice
	ready.ready, ready.Limits = true, ready.Limits.withDefaults()
	c, err := p.take("none", &Tenant{}, 0) // Prepare would find alice's
	if c == nil && err == nil {
		c, err = p.start(alice.Module)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.runsNow(c, &ready)
	if _, err := p.watch(t.Context(), c, ready, func() {}); err != nil {
		t.Fatal(err)
	}
	if pid := processOf(t, p, alice); pid != own {
		t.Errorf("alice's task ran in process %d, want her own, %d", pid, own)
	}
	if pid := processOf(t, p, bob); pid != c.cmd.Process.Pid {
		t.Errorf("bob's task ran in process %d, want the prepared one, %d", pid, c.cmd.Process.Pid)
	}
	alice.Tenant.Submitter = "carol"
	if pid := processOf(t, p, alice); pid == own || pid == c.cmd.Process.Pid {
		t.Error("carol's task ran in the process of another tenant")
	}
}

// BenchmarkTenants runs warm tasks of one tenant, of two alternating ones, and of more than may have an idle process,
// side by side. It reports milliseconds per task and how many times as long as with one tenant.
func BenchmarkTenants(b *testing.B) {
	counts := []int{1, 2, 2 * DefaultMaxIdle}
	var pools []*Pool
	spent := make([]time.Duration, len(counts))
	tk := noop.task(b, "job/0")
	tenant := func(i int) Tenant { return Tenant{Submitter: "12D3KooW", Sealed: string(rune('a' + i))} }
	for _, n := range counts {
		p := newTestPool(b)
		for i := range n {
			tk.Tenant = tenant(i)
			run(b, p, tk)
		}
		pools = append(pools, p)
	}
	for b.Loop() {
		for k, n := range counts {
			for i := range 2 * DefaultMaxIdle {
				tk.Tenant = tenant(i % n)
				began := time.Now()
				run(b, pools[k], tk)
				spent[k] += time.Since(began)
			}
		}
	}
	tasks := float64(b.N * 2 * DefaultMaxIdle)
	b.ReportMetric(spent[0].Seconds()*1e3/tasks, "one-ms/task")
	b.ReportMetric(spent[1].Seconds()*1e3/tasks, "two-ms/task")
	b.ReportMetric(spent[2].Seconds()*1e3/tasks, "eight-ms/task")
	b.ReportMetric(float64(spent[1])/float64(spent[0]), "two/one")
	b.ReportMetric(float64(spent[2])/float64(spent[0]), "eight/one")
}
