package scenario

import (
	"strings"
	"testing"
	"time"

	"godwit/trace"
)

const siteFile = `
sites:
  VU: {hosts: 3, busy: 0.25}
  LU: {hosts: 2}
users: {stay: 4m, most: 2}
loads:
  - {name: Free, published: {gep: {throughput: [0.1, 0.2], preempted: [3, 4]}, ` +
	`"sep:guard=gate": {throughput: [0.1, 0.1]}}}
  - {name: Spike, each: 10m, hosts: 4, run: 1m}
fairness: [gep, "sep:guard=gate"]
speedup: 120
end: 1h
seeds: 2
workload: {classes: [{name: one, arrival: times, times: [0s], tasks: 100, work: 2m}]}
`

func TestSites(t *testing.T) {
	e, err := Decode("sites.yaml", []byte(siteFile), openLab, openJobs, openNothing)
	if err != nil {
		t.Fatal(err)
	}
	if s := e.Owners.Sites; len(s) != 2 || s[0].Name != "VU" || s[0].Hosts != 3 || s[0].Busy != 0.25 ||
		s[1].Name != "LU" || s[1].Busy != 0 {
		t.Errorf("sites %+v", s)
	}
	if e.Owners.Stay != 4*time.Minute || e.Owners.Most != 2 || e.Speedup != 120 || len(e.Fairnesses) != 2 {
		t.Errorf("%+v, %v times, %v", e.Owners, e.Speedup, e.Fairnesses)
	}
	if len(e.Loads) != 2 || e.Loads[1].Hosts != 4 || e.Loads[0].Published["gep"].Preempted[1] != 4 {
		t.Errorf("loads %+v", e.Loads)
	}
	if n := len(e.Base.Trace.Hosts); n != 5 || !e.Base.End.Equal(e.Base.Trace.Start.Add(time.Hour)) {
		t.Errorf("%d hosts until %v", n, e.Base.End)
	}
	spike, err := e.OwnersOf(1, 2, time.Hour)
	if err != nil || len(spike.Hosts) != 5 || spike.Hosts[3].History.Host != "LU-1" || spike.Name != "Spike" {
		t.Errorf("%+v, %v", spike, err)
	}
	if _, err := e.Grid(); err == nil || !strings.Contains(err.Error(), "not simulated") {
		t.Errorf("it was taken for runs of a simulator: %v", err)
	}
}

func TestSitesRefused(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(siteFile, from, to, 1) }
	for _, c := range []struct{ text, want string }{
		{change("busy: 0.25", "busy: 1"), "sites.yaml:3:24: sites.VU.busy"},
		{change("hosts: 3, ", ""), "sites.yaml:3:3: owners: site VU has 0 hosts"},
		{change("  LU", "  VU"), `sites.yaml:4:3: "VU" is given twice`},
		{change("  LU: {hosts: 2}", "  LU:"), `"LU" has no value`},
		{change("users: {stay: 4m, most: 2}", ""), "site VU has local users"},
		{change("hosts: 4", "hosts: 6"), "sites.yaml:8:5: owners: load \"Spike\""},
		{change("end: 1h", "days: 1"), "owners of sites are made for the time up to the end"},
		{change("gep, ", "fair, "), `there is no policy "fair"`},
		{change("speedup: 120", "speedup: 0.5"), "speedup"},
		{change("end: 1h", "end: 1h\ntrace: lab.csv"), "sites are given beside other hosts"},
		{"users: {stay: 1m}\nsynth: lri\nworkload: {classes: [{work: 1m}]}", "there are none"},
		{change("sites:\n  VU: {hosts: 3, busy: 0.25}\n  LU: {hosts: 2}", "sites: [VU]"), "is a mapping of names"},
	} {
		_, err := Decode("sites.yaml", []byte(c.text), func(string) (*trace.Trace, error) { return lab(), nil }, openJobs,
			openNothing)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q of\n%s", err, c.want, c.text)
		}
	}
}
