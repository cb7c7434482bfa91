package task

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// testKey returns the key number n, the same in every run.
func testKey(n uint64) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	binary.LittleEndian.PutUint64(seed, n)
	return ed25519.NewKeyFromSeed(seed)
}

// testJob returns a valid job that uses everything a job has.
func testJob() *Job {
	f, err := ParseFile("job.yaml", []byte(exampleFile))
	if err != nil {
		panic(err)
	}
	scene := []byte("a scene")
	inputs := map[string]FileRef{"scene.json": {CID: RawCID(scene), Size: int64(len(scene))}}
	j, err := f.Job(RawCID([]byte("a module")), inputs, "commons",
		time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC), bytes.Repeat([]byte{7}, NonceSize))
	if err != nil {
		panic(err)
	}
	return j
}

func TestRecordRoundTrip(t *testing.T) {
	j := testJob()
	r, err := SignJob(j, testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeRecord(r.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if back.ID() != r.ID() {
		t.Errorf("ID %s, want %s", back.ID(), r.ID())
	}
	if _, err := ParseJobID(string(r.ID())); err != nil {
		t.Error(err)
	}
	if got, want := back.Submitter(), PeerIDOf(testKey(1).Public().(ed25519.PublicKey)); got != want {
		t.Errorf("submitter %s, want %s", got, want)
	}
	got, err := back.Open()
	if err != nil {
		t.Fatal(err)
	}
	a, _ := Encode(got)
	b, _ := Encode(j)
	if !bytes.Equal(a, b) || !got.Submitted.Equal(j.Submitted.Time) {
		t.Errorf("got %+v, want %+v", got, j)
	}
}

// A record's bytes name it for ever: this changes only with the protocol.
func TestRecordIsStable(t *testing.T) {
	r, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.ID(), JobID("bafyreigp5ftrx7eerea6huzfkxnclvrrxqwewyutfbap2hcetz7gitdvxe"); got != want {
		t.Errorf("ID %s, want %s", got, want)
	}
}

func TestRecordTampering(t *testing.T) {
	r, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	whole := r.Encode()
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(whole)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		bad, err := DecodeRecord(b)
		if err != nil {
			return
		}
		if j, err := bad.Open(); err == nil {
			t.Fatalf("a changed record opened: %+v", j)
		}
	})
}

func TestRecordRefuses(t *testing.T) {
	good, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	resign := func(b []byte) Record {
		key := testKey(1)
		return Record{Job: b, PublicKey: key.Public().(ed25519.PublicKey), Signature: sign(key, jobDomain, b)}
	}
	withoutDomain := good
	withoutDomain.Signature = ed25519.Sign(testKey(1), good.Job)
	// The first field of a map of 19 in one byte more than it needs.
	stretched := append([]byte{0xb8, 19}, good.Job[1:]...)
	if good.Job[0] != 0xb3 {
		t.Fatalf("a job begins with 0x%x", good.Job[0])
	}
	invalid := testJob()
	invalid.Memory = 0
	invalidBytes, _ := Encode(invalid)
	otherKey := good
	otherKey.PublicKey = testKey(2).Public().(ed25519.PublicKey)
	for name, test := range map[string]struct {
		record Record
		want   error // nil: any
	}{
		"signature of no kind": {withoutDomain, ErrSignature},
		"other's key":          {otherKey, ErrSignature},
		"no key":               {Record{Job: good.Job}, ErrSignature},
		"not canonical":        {resign(stretched), nil},
		"not valid":            {resign(invalidBytes), nil},
		"trailing bytes":       {resign(append(slices.Clone(good.Job), 0)), nil},
	} {
		_, err := test.record.Open()
		if err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
	if r := resign(stretched); func() bool { _, err := r.Open(); return !errors.Is(err, ErrCanonical) }() {
		t.Error("bytes of another form opened")
	}
	if _, err := DecodeRecord(make([]byte, MaxRecord+1)); err == nil {
		t.Error("a huge record was read")
	}
	if _, err := DecodeRecord(append(good.Encode(), 0)); err == nil {
		t.Error("a record with trailing bytes was read")
	}
	if _, err := SignJob(invalid, testKey(1)); err == nil {
		t.Error("an invalid job was signed")
	}
}

func TestCancel(t *testing.T) {
	r, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	id, pub := r.ID(), testKey(1).Public().(ed25519.PublicKey)
	sig := SignCancel(id, testKey(1))
	if !VerifyCancel(id, pub, sig) {
		t.Error("a good cancel was refused")
	}
	if VerifyCancel(JobID(RawCID(nil)), pub, sig) || VerifyCancel(id, testKey(2).Public().(ed25519.PublicKey), sig) ||
		VerifyCancel(id, nil, sig) || VerifyCancel(id, pub, nil) || VerifyCancel(id, pub, r.Signature) {
		t.Error("a bad cancel was accepted")
	}
}

// The vectors were computed with go-libp2p's peer.IDFromPublicKey.
func TestPeerID(t *testing.T) {
	for _, v := range []struct {
		key string
		id  PeerID
	}{
		{"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29",
			"12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN"},
		{"d14677734c5b63da629572f3eab9b927babf833c27ff3da13bf0d723281ebe42",
			"12D3KooWPuHhUZGsJLVGEB3DVUNAcvCyci8yKeQjDwaZUq9CHmFw"},
	} {
		key, _ := hex.DecodeString(v.key)
		if got := PeerIDOf(key); got != v.id {
			t.Errorf("PeerIDOf(%s) = %s, want %s", v.key, got, v.id)
		}
		back, err := v.id.PublicKey()
		if err != nil || !bytes.Equal(back, key) {
			t.Errorf("%s.PublicKey() = %x, %v", v.id, back, err)
		}
	}
	for _, bad := range []PeerID{
		"", "12D3KooW", "0OIl", "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N",
		"12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN1", PeerID(bytes.Repeat([]byte("z"), 1000)),
	} {
		if key, err := bad.PublicKey(); err == nil {
			t.Errorf("%q has the key %x", bad, key)
		}
	}
}

func BenchmarkRecordOpen(b *testing.B) {
	r, err := SignJob(testJob(), testKey(1))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Open(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExpand(b *testing.B) {
	j := testJob()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := j.Expand(77); err != nil {
			b.Fatal(err)
		}
	}
}
