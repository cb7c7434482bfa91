package overlay

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// maxChecked is the number of verified divisions that a SummaryReader remembers: twice as many as there are in the
// largest overlay.
const maxChecked = 2 << MaxCellBits

// A SummaryReader opens summaries, and verifies a division that many of them contain only once. The zero value is
// ready. It isn't safe for concurrent use.
type SummaryReader struct {
	checked map[[sha256.Size]byte]struct{}
}

// OpenSummary opens a single summary: see SummaryReader.Open.
func OpenSummary(b []byte, now time.Time) (Summary, error) { return new(SummaryReader).Open(b, now) }

// Open decodes and checks a summary that arrived: its size first, then its bounds, its time against now, whether the
// leader can lead in its epoch, the signature, and the signatures in its lineage. The caller checks whether the
// overlay admits the leader. Open keeps no reference to b.
func (r *SummaryReader) Open(b []byte, now time.Time) (Summary, error) {
	if len(b) > MaxSummaryBytes {
		return Summary{}, fmt.Errorf("overlay: summary has %d bytes, at most %d", len(b), MaxSummaryBytes)
	}
	var w summaryWire
	if err := decoder.Unmarshal(b, &w); err != nil {
		return Summary{}, fmt.Errorf("overlay: decoding summary: %w", err)
	}
	if again, err := encoder.Marshal(w); err != nil || !bytes.Equal(again, b) {
		return Summary{}, errors.New("overlay: decoding summary: its bytes are not the canonical ones")
	}
	s, err := w.summary()
	if err != nil {
		return Summary{}, fmt.Errorf("overlay: decoding summary: %w", err)
	}
	if err := s.check(now); err != nil {
		return Summary{}, err
	}
	w.Signature = nil
	if err := verify("summary", w, s.Leader, s.Signature); err != nil {
		return Summary{}, err
	}
	return s, r.verify(&s)
}

// verify checks the signatures of a summary's lineage.
func (r *SummaryReader) verify(s *Summary) error {
	for i := range s.Lineage {
		d := &s.Lineage[i]
		signed, err := d.signed(s.Overlay, uint8(i))
		if err != nil {
			return fmt.Errorf("overlay: verifying division: %w", err)
		}
		b, err := signedBytes("division", signed)
		if err != nil {
			return err
		}
		key := sha256.Sum256(append(b, d.Signature...))
		if _, known := r.checked[key]; known {
			continue
		}
		if err := d.verify(s.Overlay, uint8(i)); err != nil {
			return err
		}
		if r.checked == nil || len(r.checked) >= maxChecked {
			r.checked = map[[sha256.Size]byte]struct{}{}
		}
		r.checked[key] = struct{}{}
	}
	return nil
}
