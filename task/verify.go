package task

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Verify says how the submitter of a job checks its results: it runs some of the tasks again
// and holds what comes out against what their workers signed. nil checks none.
type Verify struct {
	// Audits is how many of a million tasks are run again at least, whoever ran them first.
	Audits uint32 `cbor:"1,keyasint,omitempty"`
	// Wrong bounds how many of a billion results may be wrong that are not run again: the
	// less is known of a worker, the more of its tasks are. 0: only Audits counts.
	Wrong uint32 `cbor:"2,keyasint,omitempty"`
	// Draw is the SHA-256 of the key by which the tasks are drawn, see DrawKey: whoever is
	// told the key later can see that they were. The submitting node fills it in.
	Draw []byte `cbor:"3,keyasint,omitempty"`
	// Confirm is a condition that results meet which are all run again, see Condition: of others
	// as many are as the rest says. "" for no such results. A worker knows the condition, and can
	// keep from meeting it: that is for the other audits to find.
	Confirm string `cbor:"4,keyasint,omitempty"`
	// Auditors are the members that alone run tasks again beside the submitter's node, and whose word
	// counts as its own; empty for any, by what is known of each.
	Auditors []PeerID `cbor:"5,keyasint,omitempty" most:"16"`
	// Spacing is how much fuel lies between two boundaries of a task at first, at least MinSpacing;
	// 0 is DefaultSpacing.
	Spacing uint64 `cbor:"6,keyasint,omitempty"`
}

// MaxAuditors is how many auditors a job may name.
const MaxAuditors = 16

// What Audits and Wrong are parts of.
const (
	auditsUnit = 1_000_000
	wrongUnit  = 1_000_000_000
)

// maxWrong is the largest bound on wrong results that is one.
const maxWrong = .5

// Share is the least part of the tasks to be run again, 0 to 1.
func (v *Verify) Share() float64 { return float64(v.Audits) / auditsUnit }

// Target is the bound on wrong results as a chance, above 0 to 0.5; 0 for none.
func (v *Verify) Target() float64 { return float64(v.Wrong) / wrongUnit }

// String returns it as a job file has it: "off", "full", "5%", "0.001". What is to be confirmed
// beside that is not in it.
func (v *Verify) String() string {
	switch {
	case v == nil, v.Audits == 0 && v.Wrong == 0:
		return "off"
	case v.Audits == auditsUnit:
		return "full"
	case v.Wrong > 0:
		return strconv.FormatFloat(v.Target(), 'g', -1, 64)
	}
	return strconv.FormatFloat(100*v.Share(), 'g', -1, 64) + "%"
}

// ParseVerify reads what String writes. nil is "off".
func ParseVerify(s string) (*Verify, error) {
	switch s {
	case "off":
		return nil, nil
	case "full":
		return &Verify{Audits: auditsUnit}, nil
	}
	number, percent := strings.CutSuffix(s, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil {
		return nil, fmt.Errorf("verify %s is not understood", quote(s))
	}
	v := &Verify{}
	if percent {
		v.Audits = uint32(math.Round(min(max(x, 0), 100) / 100 * auditsUnit))
		if !(x > 0 && x <= 100) || v.Audits == 0 {
			return nil, fmt.Errorf("verify %s is no part of the tasks", quote(s))
		}
		return v, nil
	}
	v.Wrong = uint32(math.Round(min(max(x, 0), maxWrong) * wrongUnit))
	if !(x > 0 && x <= maxWrong) || v.Wrong == 0 {
		return nil, fmt.Errorf("verify %s is no bound on wrong results", quote(s))
	}
	return v, nil
}

// with returns it with a condition, "" for none: of a job that wants nothing else checked, it is
// all.
func (v *Verify) with(confirm string) *Verify {
	if v == nil && confirm == "" {
		return nil
	}
	out := &Verify{Confirm: confirm}
	if v != nil {
		out.Audits, out.Wrong, out.Draw, out.Auditors = v.Audits, v.Wrong, bytes.Clone(v.Draw), slices.Clone(v.Auditors)
		out.Spacing = v.Spacing
	}
	return out
}

// by returns what a job says that has these auditors as well. nil has none.
func (v *Verify) by(auditors []PeerID) *Verify {
	if v == nil || len(auditors) == 0 {
		return v
	}
	with := *v
	with.Auditors = auditors
	return &with
}

// check returns a fault of a job that says so; nil has none.
func (v *Verify) check() *fault {
	const hint = "write off, 1e-3, 5% or full"
	switch {
	case v == nil:
		return nil
	case v.Audits == 0 && v.Wrong == 0 && v.Confirm == "", v.Audits > auditsUnit, v.Wrong > maxWrong*wrongUnit:
		return faultf("verify", hint, "verify is out of bounds")
	case v.Spacing != 0 && (v.Spacing < MinSpacing || v.Spacing > maxSpacing):
		return faultf("parts", "write a time such as 5s", "parts is out of bounds")
	case len(v.Draw) != 0 && len(v.Draw) != sha256.Size:
		return faultf("verify", hint, "verify has a hash of %d bytes", len(v.Draw))
	case len(v.Auditors) > MaxAuditors:
		return faultf("auditors", "name fewer of them", "%d auditors, the most is %d", len(v.Auditors), MaxAuditors)
	}
	for _, id := range v.Auditors {
		if _, err := id.PublicKey(); err != nil {
			return faultf("auditors", "godwit status of that machine says its peer ID", "%v", err)
		}
	}
	return nil
}

// CheckDraw refuses a key that is not the one by which the tasks of a job are drawn: its submitter
// chose that before anybody had run one.
func (v *Verify) CheckDraw(key []byte) error {
	if v == nil || len(v.Draw) == 0 {
		return errors.New("the job's record says nothing of a draw")
	}
	if sum := sha256.Sum256(key); len(key) != sha256.Size || !bytes.Equal(sum[:], v.Draw) {
		return errors.New("this is not the key that the job's record says its tasks are drawn by")
	}
	return nil
}

// drawLabel keeps keys of draws apart from whatever else is made with a node's key.
const drawLabel = "godwit audit key 1\x00"

// DrawKey returns the key by which the submitter draws the tasks of a job that are run again,
// made of its own key and the job's nonce: nobody else knows it, and it need not be kept.
func DrawKey(key ed25519.PrivateKey, nonce []byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, key.Seed())
	mac.Write([]byte(drawLabel))
	mac.Write(nonce)
	return [sha256.Size]byte(mac.Sum(nil))
}
