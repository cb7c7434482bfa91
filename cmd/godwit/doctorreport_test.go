package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/owner"
)

// TestReportTellsNothing: of what must not be in a report, each is planted in every text of a finding,
// beside what helps.
func TestReportTellsNothing(t *testing.T) {
	words := map[string]string{"/home/eve": "~", "eves-laptop": "<machine>", "evelyn": "<user>"}
	secrets := map[string]string{
		"a peer":              "12D3KooWSk48JYPAPP6B6QyCqy4yRKp4zVWfRCTn3WJ8jR4Dzr5k",
		"a multiaddr":         "/ip4/203.0.113.7/tcp/4001/p2p/12D3KooWSk48JYPAPP6B6QyCqy4yRKp4zVWfRCTn3WJ8jR4Dzr5k",
		"a named multiaddr":   "/dns4/home.example.org/udp/4001/quic-v1",
		"an address":          "203.0.113.7",
		"with a port":         "203.0.113.7:4001",
		"of IPv6":             "2001:db8::7",
		"of a network":        "2001:db8:dead::",
		"of IPv6, in full":    "2001:db8:0:1:2:3:4:5",
		"of IPv6, and port":   "[2001:db8::7]:4001",
		"of a link":           "fe80::1%eth0",
		"a page":              "https://boot.example.org/list",
		"a page of somebody":  "https://eve:hunter2@boot.example.org/list",
		"a name of lists":     "dnsaddr:boot.example.org",
		"a mail":              "eve@example.org",
		"a token":             "7f3c9a1be0d24c5f8a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b",
		"a key in base64":     "MC4CAQAwBQYDK2VwBCIEIJ2Zc0mXk1Y6Qe/w3u+8xL0aB1cD2eF3gH4iJ5kL6mN=",
		"a swarm key":         "aabbccddeeff00112233445566778899aabbccddeeff00112233445566778899",
		"a ticket":            "godwit1qyp5xk3v9r8w2l0s7d6f4h3j2k1m0n9b8v7c6x5z4l3k2j1h0g9f8d7s6a",
		"a ticket in letters": "mfrggzdfmztwq2lknnwg23tpobyxe43uov3ho6dzpjqwcylbmfqwcyljnzrwk",
		"a job":               "bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
		"the home":            "/home/eve/secret",
		"the machine":         "eves-laptop",
		"the user":            "evelyn",
	}
	helps := []string{"sysctl kernel.apparmor_restrict_unprivileged_userns=0", "Linux 5.13", "/dev/input", "12.4 GiB",
		"/sys/fs/cgroup/user.slice/app.slice", "endpoint-independent",
		"`godwit config set run_if_user_active true`", "0.2.0-rc.1",
		"2026-11-27T02:00:00Z", "3:04:05", "Landlock 4"}
	for name, secret := range secrets {
		for _, around := range []string{"%", "of % here", "(%)", "the peer %: no program", "\"%\"", "x=%,"} {
			text := strings.Replace(around, "%", secret, 1)
			file := filepath.Join(t.TempDir(), "report")
			f := owner.Finding{Area: owner.AreaNetwork, Check: "peers " + text, Result: owner.Blind,
				Text: text + "; " + strings.Join(helps, "; "), Fix: "ask " + text}
			if err := writeReport(file, []owner.Finding{f}, words, time.Unix(0, 0)); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := strings.FieldsFunc(secret, func(r rune) bool { return strings.ContainsRune("/@ ", r) })
			for _, part := range append(parts, secret) {
				if len(part) > 8 && part != "boot.example.org" && strings.Contains(string(got), part) {
					t.Errorf("%s, as in %q, is in the report: %s", name, around, got)
				}
			}
			for _, h := range helps {
				if !strings.Contains(string(got), h) {
					t.Errorf("%s: %q is not in the report: %s", name, h, got)
				}
			}
			if err := writeReport(file, nil, words, time.Unix(0, 0)); err == nil {
				t.Error("a file that was there is written over")
			}
		}
	}
	// The same stands for the same.
	s := newScrubber(nil)
	got, want := s.scrub("203.0.113.7, 203.0.113.8 and 203.0.113.7"), "<address 1>, <address 2> and <address 1>"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
