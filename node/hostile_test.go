package node

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"godwit/internal/roundtrip"
	"godwit/overlay"
	"godwit/scheduler/message"
	"godwit/task"
	"godwit/trace"
)

// Whatever a peer sends, the node lives, and nothing that it did not mean to
// take is taken.
func TestHostileFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		rec := l.remoteJob(t, testKey(2))
		forged := rec
		forged.Signature = append([]byte{rec.Signature[0] ^ 1}, rec.Signature[1:]...)
		for _, b := range []string{"", "\x00", "\xff", "\x9f\xff", "\x9a\xff\xff\xff\xff", "\x81\xa0",
			strings.Repeat("\x81", 1<<16)} {
			l.net.handler.Frame("12D3KooWNobody", []byte(b))
		}
		for _, key := range []ed25519.PrivateKey{testKey(2), testKey(3)} {
			l.net.handler.Advert(advertOf(t, key, 0))
		}
		l.hears(t, testKey(2), message.Message{Submit: &message.Submit{Record: forged}})
		l.hears(t, testKey(3), message.Message{Submit: &message.Submit{Record: rec}}) // another's job
		jobs, err := l.Jobs(t.Context())
		if err != nil || len(jobs) != 0 {
			t.Errorf("jobs were taken: %+v, %v", jobs, err)
		}
		refusals := l.net.count(func(m *message.Message) bool {
			return m.Accepted != nil && m.Accepted.Error != "" && m.Accepted.RetryAfter == 0
		})
		if refusals != 1 { // who brings another's is not answered
			t.Errorf("%d refusals, want 1", refusals)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// inCommons is a question about the usual overlay.
func inCommons(fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return fmt.Sprintf(`{"overlay":%q`, commons) + fields + "}"
}

// Questions that make no sense get an error that says so.
func TestHostileRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		id, err := l.Submit(t.Context(), sleepJob(t, l.Node, 3, time.Second))
		if err != nil {
			t.Fatal(err)
		}
		member := advertOf(t, testKey(5), 0)
		l.net.handler.Advert(member)
		for _, method := range []string{methodJobs, methodJob, methodWhy, methodScheduling, methodHistory} {
			body := inCommons(fmt.Sprintf(`"job":%q`, id))
			if b, err := l.net.handler.Request(t.Context(), "stranger", method, []byte(body)); !errors.Is(err, errNoMember) {
				t.Errorf("a stranger's %s is answered: %.100q, %v", method, b, err)
			}
		}
		tests := []struct{ method, body, want string }{
			{"format-disk", "", `"format-disk"`},
			{"", "", `""`},
			{methodJob, "", "reading the question"},
			{methodJob, "\xff\x00", "reading the question"},
			{methodJob, `{"job":"x","from":-1}`, "reading the question"},
			{methodJob, inCommons(`"job":"none"`), "no such job"},
			{methodJob, strings.Repeat("[", 1<<20), "reading the question"},
			{methodWhy, "{", "reading the question"},
			{methodWhy, inCommons(`"job":"none"`), "no such job"},
			{methodWhy, inCommons(fmt.Sprintf(`"job":%q,"index":3`, id)), "tasks 0 to 2"},
			{methodWhy, inCommons(fmt.Sprintf(`"job":%q,"index":18446744073709551615`, id)), "tasks 0 to 2"},
		}
		for _, tt := range tests {
			if b, err := l.net.handler.Request(t.Context(), member.Peer, tt.method, []byte(tt.body)); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s %.40q: %q, %v; want %q", tt.method, tt.body, b, err, tt.want)
			}
		}
		for _, body := range []string{inCommons(`"job":%q,"limit":-5`),
			inCommons(`"job":%q,"from":18446744073709551615,"limit":9223372036854775807`)} {
			if b, err := l.net.handler.Request(t.Context(), member.Peer, methodJob, fmt.Appendf(nil, body, id)); err != nil ||
				strings.Contains(string(b), "tasks_list") {
				t.Errorf("%s: %s, %v", body, b, err)
			}
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.net.handler.Request(gone, member.Peer, methodJobs, []byte(inCommons(""))); err != nil &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("a peer that has gone: %v", err)
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// A record that does not open is not kept, and who offers it is told.
func TestForgedOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startLone(t, newDisk(), false)
		rec := l.remoteJob(t, testKey(2))
		rec.Signature = append([]byte{rec.Signature[0] ^ 1}, rec.Signature[1:]...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.offer(ctx, l.members[commons], rec.ID(), rec, nil); err == nil {
			t.Error("a forged record was accepted")
		}
		if jobs, err := l.Jobs(t.Context()); err != nil || len(jobs) != 0 {
			t.Errorf("it was kept: %+v, %v", jobs, err)
		}
		if l.disk.has("s/j/"+string(rec.ID())) != nil {
			t.Error("it is on the disk")
		}
		if err := l.end(); err != nil {
			t.Error(err)
		}
	})
}

// Answers of the coordinator mean the same wherever it runs.
func TestErrorsOfRemoteLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSwarm(t, 2)
		leader, other := s.peers[0], s.peers[1]
		none := task.JobID("bafyreihfeefuykb42zw7wwmvq6zlgjcl4jrzofcl4jrzofcl4jrzofcl4i")
		for _, p := range s.peers {
			if _, err := p.Job(t.Context(), none, 0, 0); !errors.Is(err, ErrUnknownJob) {
				t.Errorf("status of an unknown job: %v", err)
			}
			if _, err := p.Why(t.Context(), none, nil); !errors.Is(err, ErrUnknownJob) {
				t.Errorf("why of an unknown job: %v", err)
			}
			if err := p.Cancel(t.Context(), none, false); !errors.Is(err, ErrUnknownJob) {
				t.Errorf("cancel of an unknown job: %v", err)
			}
		}
		leader.host.Stop()
		if _, err := other.Why(t.Context(), none, nil); !errors.Is(err, ErrLeaderSilent) {
			t.Errorf("asking a leader that is gone: %v", err)
		}
		s.until("the leader is missed", func() bool { return other.status().Overlays[0].Leader == "" })
		if _, err := other.Why(t.Context(), none, nil); !errors.Is(err, ErrNoLeader) {
			t.Errorf("asking nobody: %v", err)
		}
	})
}

// FuzzHistory checks that no answer to a question for a history does harm, and
// that nothing is taken that the peer has not signed.
func FuzzHistory(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	peer := task.PeerIDOf(key.Public().(ed25519.PublicKey))
	h := &trace.History{}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := h.Append(begin, trace.Available, 1); err != nil {
		f.Fatal(err)
	}
	h.Extend(begin.Add(30 * time.Hour))
	segments, err := overlay.Segments(h, time.Time{}, peer, key)
	if err != nil {
		f.Fatal(err)
	}
	good, err := packSegments(segments, time.Time{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := openSegments(in, peer)
		if err != nil {
			return
		}
		for _, s := range got {
			if s.Peer != peer {
				t.Errorf("took a history of %s", s.Peer)
			}
		}
		if _, err := overlay.Join(newest(got)); err != nil {
			t.Errorf("what was taken cannot be joined: %v", err)
		}
		roundtrip.Check(t, got, func(s []overlay.Segment) ([]byte, error) { return packSegments(s, time.Time{}) },
			func(b []byte) ([]overlay.Segment, error) { return openSegments(b, peer) })
	})
}
