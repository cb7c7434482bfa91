package task

import (
	"bytes"
	"errors"
	"testing"

	"godwit/internal/roundtrip"
)

// sealedRecord is of a sealed job, with its key.
func sealedRecord(t testing.TB) Record {
	t.Helper()
	key := bytes.Repeat([]byte{5}, KeySize)
	j := testJob()
	j.Sealed = KeyCommitment(key)
	r, err := SignJob(j, testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	r.Key = key
	return r
}

// The key of a sealed job goes with the record to who keeps the job, and is neither in the
// block nor in the ID.
func TestKeyOutsideOfBlock(t *testing.T) {
	r := sealedRecord(t)
	bare := r
	bare.Key = nil
	if bare.ID() != r.ID() || !bytes.Equal(bare.Encode(), r.Encode()) || bytes.Contains(r.Encode(), r.Key) {
		t.Error("the key changes the block of the record, or is in it")
	}
	back, err := DecodeWhole(r.Whole())
	if err != nil || !bytes.Equal(back.Key, r.Key) || back.ID() != r.ID() {
		t.Errorf("the whole record came back with the key %x, %v", back.Key, err)
	}
	roundtrip.Same(t, r.Whole(), back, func(r Record) ([]byte, error) { return r.Whole(), nil }, DecodeWhole)
	if block, err := DecodeWhole(r.Encode()); err != nil || len(block.Key) > 0 {
		t.Errorf("the block was read with the key %x, %v", block.Key, err)
	}
	if _, err := DecodeRecord(r.Whole()); !errors.Is(err, ErrCanonical) {
		t.Errorf("a block with a key was read: %v", err)
	}
	if j, err := bare.Open(); err != nil || len(j.Sealed) != KeySize {
		t.Errorf("the block does not open: %v", err)
	}
}

// A sealed job is whole with its own key alone, and another with none.
func TestOpenWhole(t *testing.T) {
	sealed := sealedRecord(t)
	open, err := SignJob(testJob(), testKey(1))
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(sealed.Key)
	other[0]++
	for name, tt := range map[string]struct {
		record Record
		key    []byte
		want   error
	}{
		"its key":                   {sealed, sealed.Key, nil},
		"no key":                    {sealed, nil, ErrKey},
		"another":                   {sealed, other, ErrKey},
		"a part of it":              {sealed, sealed.Key[:KeySize-1], ErrKey},
		"more than it":              {sealed, append(bytes.Clone(sealed.Key), 0), ErrKey},
		"none where none is":        {open, nil, nil},
		"one where none is":         {open, sealed.Key, ErrKey},
		"the commitment as the key": {sealed, KeyCommitment(sealed.Key), ErrKey},
	} {
		tt.record.Key = tt.key
		if _, err := tt.record.OpenWhole(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	for _, n := range []int{0, 1, KeySize - 1, KeySize + 1} {
		r := sealed
		r.Key = make([]byte, n)
		if _, err := DecodeWhole(r.Whole()); (err == nil) != (n == 0) {
			t.Errorf("a key of %d bytes: %v", n, err)
		}
	}
	odd := testJob()
	odd.Sealed = []byte{1}
	if _, err := SignJob(odd, testKey(1)); err == nil {
		t.Error("a commitment of one byte was signed")
	}
}

// Outputs as large as a task may write are no larger than is allowed when they are sealed.
func TestSealedOutputsFit(t *testing.T) {
	const overhead, chunk = 16, 256<<10 - 16 // package blocks/seal
	if more := overhead * (MaxTaskFiles/chunk + 1 + MaxOutputs); more > SealedSpare {
		t.Errorf("sealing adds %d bytes, %d are allowed", more, SealedSpare)
	}
	j := testJob()
	j.Outputs = []string{"out"}
	out := []Output{{Name: "out", CID: RawCID([]byte("x")), Size: MaxTaskFiles + SealedSpare}}
	if err := j.CheckOutputs(0, out); err == nil {
		t.Error("an output beyond the bounds was taken of a job that is not sealed")
	}
	j.Sealed = make([]byte, KeySize)
	if err := j.CheckOutputs(0, out); err != nil {
		t.Error(err)
	}
	if out[0].Size++; j.CheckOutputs(0, out) == nil {
		t.Error("an output beyond the bounds was taken of a sealed job")
	}
}
