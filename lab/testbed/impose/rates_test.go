package impose

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"godwit/task"
)

func TestParseRates(t *testing.T) {
	peer := string(task.PeerIDOf(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)))
	k, err := parseRates(strings.NewReader("class,peer,rate\nx, " + peer + ", 0.5\n# a remark\n\"y, z\"," + peer +
		",0\nx,arrivals,2\n"))
	if err != nil || k.Of["x"][task.PeerID(peer)] != 0.5 || len(k.Of) != 2 || k.Arrivals["x"] != 2 {
		t.Errorf("read %+v, %v", k, err)
	}
	if rate, ok := k.Of["y, z"][task.PeerID(peer)]; !ok || rate != 0 {
		t.Errorf("who cannot run a class has %v, %v", rate, ok)
	}
	for text, want := range map[string]string{
		"x,1":                                       "wrong number of fields",
		"x,nobody,1":                                "line 1",
		"x," + peer + ",fast":                       "write tasks a second",
		"x," + peer + ",-1":                         "write tasks a second",
		"x," + peer + ",NaN":                        "write tasks a second",
		"x," + peer + ",1\nx," + peer + ",2":        "line 2: class \"x\" has two rates",
		"x,arrivals,1\nx,arrivals,1":                "given twice",
		strings.Repeat("x", 65) + "," + peer + ",1": "at most 64 bytes",
	} {
		if _, err := parseRates(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
