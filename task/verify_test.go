package task

import (
	"crypto/sha256"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseVerify(t *testing.T) {
	for text, want := range map[string]struct {
		share, target float64
		back          string
	}{
		"off": {0, 0, "off"}, "full": {1, 0, "full"}, "100%": {1, 0, "full"},
		"5%": {.05, 0, "5%"}, "0.5 %": {.005, 0, "0.5%"},
		"1e-3": {0, 1e-3, "0.001"}, "0.001": {0, 1e-3, "0.001"}, "1e-9": {0, 1e-9, "1e-09"}, ".5": {0, .5, "0.5"},
	} {
		v, err := ParseVerify(text)
		if err != nil || v.String() != want.back || v != nil && (v.Share() != want.share || v.Target() != want.target) {
			t.Errorf("%s: %v, %v", text, v, err)
		}
		if v != nil && v.check() != nil {
			t.Errorf("%s: %v", text, v.check())
		}
	}
	for _, text := range []string{"", "on", "audit", "0%", "101%", "-1%", "1e-9%", "0", "0.6", "1", "-1e-3", "1e-12",
		"NaN", "NaN%", "Inf", "5%%"} {
		if v, err := ParseVerify(text); err == nil {
			t.Errorf("%q is %+v", text, v)
		}
	}
}

// What a job file can say comes back from its text.
func TestVerifyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &Verify{Audits: rapid.Uint32Range(1, auditsUnit).Draw(t, "audits")}
		if rapid.Bool().Draw(t, "target") {
			v = &Verify{Wrong: rapid.Uint32Range(1, maxWrong*wrongUnit).Draw(t, "wrong")}
		}
		back, err := ParseVerify(v.String())
		if err != nil || back.Audits != v.Audits || back.Wrong != v.Wrong {
			t.Fatalf("%+v is %q, which is %+v (%v)", v, v, back, err)
		}
	})
}

func TestVerifyBounds(t *testing.T) {
	for name, v := range map[string]Verify{
		"nothing":        {},
		"more than all":  {Audits: auditsUnit + 1},
		"more than half": {Wrong: maxWrong*wrongUnit + 1},
		"half a hash":    {Audits: 1, Draw: make([]byte, 16)},
	} {
		if v.check() == nil {
			t.Errorf("%s: no fault", name)
		}
	}
}

func TestVerifyInAJobFile(t *testing.T) {
	f, err := ParseFile("job.yaml", []byte("module: a.wasm\nverify: 5%\n"))
	if err != nil || f.Verify.String() != "5%" {
		t.Errorf("%v, %v", f, err)
	}
	f, err = ParseFile("job.yaml", []byte("module: a.wasm\nreplicas: 2\nverify: 5%\nconfirm: {when: stdout exists}\n"))
	if err != nil || f.Verify.String() != "5%" || f.Replicas != 2 {
		t.Errorf("replicas beside verify: %v, %v", f, err)
	}
	for src, want := range map[string]string{
		"module: a.wasm\nverify: often\n": "job.yaml:2:9: verify \"often\" is not understood",
	} {
		if _, err := ParseFile("job.yaml", []byte(src)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// The key of a draw is the node's own, and another for each job.
func TestDrawKey(t *testing.T) {
	a := DrawKey(testKey(1), []byte("nonce"))
	if a != DrawKey(testKey(1), []byte("nonce")) || a == DrawKey(testKey(2), []byte("nonce")) ||
		a == DrawKey(testKey(1), []byte("other")) {
		t.Error("keys of draws do not follow from the node and the job, or not from these alone")
	}
}

// A submitter that publishes another key than it drew by is found out.
func TestCheckDraw(t *testing.T) {
	key := DrawKey(testKey(1), []byte("nonce"))
	draw := sha256.Sum256(key[:])
	v := &Verify{Audits: 1, Draw: draw[:]}
	other := DrawKey(testKey(1), []byte("other"))
	if err := v.CheckDraw(key[:]); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"another": v.CheckDraw(other[:]), "a part": v.CheckDraw(key[:16]),
		"none": v.CheckDraw(nil), "no hash": (&Verify{Audits: 1}).CheckDraw(key[:]),
		"no checks": (*Verify)(nil).CheckDraw(key[:])} {
		if err == nil {
			t.Errorf("%s: is taken for the key", name)
		}
	}
}
