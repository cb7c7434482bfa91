package door

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	now := time.Unix(1_000_000, 0)
	p := &Password{File: file, now: func() time.Time { return now }}
	const right = "correct horse battery"
	if err := p.Try("a", right); !errors.Is(err, ErrNoPassword) || p.Set() {
		t.Errorf("without a password: %v", err)
	}
	for _, bad := range []string{"", "short", strings.Repeat("x", MostPassword+1)} {
		if SetPassword(file, bad) == nil {
			t.Errorf("a password of %d bytes is taken", len(bad))
		}
	}
	if err := SetPassword(file, right); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if err := p.Try("a", right); err != nil || !p.Set() {
		t.Errorf("the right one: %v", err)
	}
	for n := range triesEach {
		if err := p.Try("a", "wrong"); !errors.Is(err, ErrWrongPassword) {
			t.Errorf("wrong one %d: %v", n, err)
		}
	}
	if err := p.Try("a", right); !errors.Is(err, ErrTries) {
		t.Errorf("the right one after too many: %v", err)
	}
	if err := p.Try("b", right); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	now = now.Add(againEach)
	if err := p.Try("a", right); err != nil {
		t.Errorf("after a while: %v", err)
	}
}

// Many addresses together have few tries, and are not all remembered.
func TestPasswordTries(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	p := &Password{now: func() time.Time { return now }}
	for i := range 3 * maxTried {
		now = now.Add(time.Millisecond)
		p.of(strings.Repeat("x", i), now)
	}
	if len(p.tried) > maxTried {
		t.Errorf("%d addresses are remembered", len(p.tried))
	}
	var all tries
	taken := 0
	for range 1000 {
		if all.left(now, triesAll, againAll) {
			all.n++
			taken++
		}
	}
	if taken != triesAll {
		t.Errorf("%d tries are taken at once", taken)
	}
}

// A password is for requests over TLS, from the address of the network.
func TestEnter(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	const right = "correct horse battery"
	if err := SetPassword(file, right); err != nil {
		t.Fatal(err)
	}
	k := NewKeys(token, &Password{File: file})
	r := httptest.NewRequest("POST", "/v1/session", nil)
	if _, err := k.Enter(httptest.NewRecorder(), r, right); !errors.Is(err, ErrNoPassword) {
		t.Errorf("in the clear: %v", err)
	}
	r.TLS = &tls.ConnectionState{}
	w := httptest.NewRecorder()
	if _, err := k.Enter(w, r, right); err != nil || !w.Result().Cookies()[0].Secure {
		t.Errorf("over TLS: %v, %v", err, w.Result().Cookies())
	}
	if _, err := k.Enter(w, r, right+"x"); !errors.Is(err, ErrWrongPassword) {
		t.Errorf("a wrong one: %v", err)
	}
}

func FuzzParseHashed(f *testing.F) {
	f.Add("scrypt 15 8 1 c2FsdHNhbHRzYWx0c2FsdA aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g")
	f.Add("scrypt 64 8 1 x x")
	f.Add("scrypt 20 1024 1024 x x")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHashed(text)
		if err == nil && (h.logN > mostLogN || h.logN < 1 || h.r > mostFactor || h.p > mostFactor || h.r < 1 || h.p < 1 ||
			len(h.hash) != hashBytes) {
			t.Errorf("%q is read as %+v", text, h)
		}
	})
}

// A node makes its certificate once, and anew when it is over.
func TestCertificate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pem")
	now := time.Unix(1_700_000_000, 0)
	ips := []net.IP{net.IPv4(192, 0, 2, 7)}
	c, err := Certificate(file, []string{"host"}, ips, now)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if n := len(Fingerprint(c)); n != 95 { // 32 pairs of digits with colons between them
		t.Errorf("the fingerprint is %s", Fingerprint(c))
	}
	for after, same := range map[time.Duration]bool{time.Hour: true, certLife + time.Hour: false} {
		again, err := Certificate(file, nil, nil, now.Add(after))
		if err != nil || (Fingerprint(again) == Fingerprint(c)) != same {
			t.Errorf("after %v it is the same: %v, want %v (%v)", after, !same, same, err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err = Certificate(file, nil, nil, now); err != nil {
			t.Fatal(err)
		}
	}
}
