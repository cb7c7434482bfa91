package spec

import (
	"strings"
	"testing"
	"time"
)

func TestRegistry(t *testing.T) {
	r := Registry[time.Duration]{Room: "room", Prefix: "room: ", Thing: "policy", Default: "wait"}
	r.Register("wait", Kind[time.Duration]{Params: "for", Does: "waits", Make: func(ps *Params) time.Duration {
		return ps.Duration("for", time.Hour)
	}})
	r.Register("never", Kind[time.Duration]{Does: "does not", Make: func(*Params) time.Duration { return 0 }})
	for _, tt := range []struct {
		in   string
		want time.Duration
		err  string
	}{
		{"", time.Hour, ""},
		{"wait:for=1m", time.Minute, ""},
		{":for=1m", time.Minute, ""},
		{"never", 0, ""},
		{"often", 0, `room: there is no policy "often": use one of never, wait`},
		{"wait:for", 0, `room: policy "wait:for": "for": write NAME=VALUE`},
		{"wait:for=x", 0, "room: policy wait: for=x: it takes a length of time of a second or more, such as 10m"},
		{"never:for=1m", 0, `room: policy never: unknown parameter "for": it has none`},
	} {
		got, ps, err := r.Parse(tt.in)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err ||
			(ps == nil) != (err != nil) {
			t.Errorf("%q: got %v, %v, want %v, %q", tt.in, got, err, tt.want, tt.err)
		}
	}
	if got, want := r.Describe(), "never: does not\nwait:for=: waits\n    defaults: for=1h0m0s (1s or more)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.InOrder = true
	if got := strings.Join(r.Usages(), " "); got != "wait:for= never" || strings.Join(r.Names(), " ") != "wait never" {
		t.Errorf("in order: got %s", got)
	}
	for in, want := range map[string]string{
		"":             "wait:for=1m0s",
		"wait:for=2h":  "wait:for=2m0s",
		"wait:for=59s": "",
		"often":        "",
		"wait:for":     "",
	} {
		if got, err := r.Faster(in, 60); got != want && want != "" || (err == nil) != (want != "") {
			t.Errorf("%q faster: got %q, %v", in, got, err)
		}
	}
	defer func() {
		if got, _ := recover().(string); got != "room: registering: wait is registered twice" {
			t.Errorf("registered twice: %q", got)
		}
	}()
	r.Register("wait", Kind[time.Duration]{})
}
