package predictor

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// RecordSize is the length of an encoded Record in bytes. Gossip allows 96.
const RecordSize = 1 + 1 + 4 + 4 + 1 + octaves + octaves/2 + 24 + wholeHours/8 + 2*recents + opinions - 1

const (
	recordVersion = 2
	wholeHours    = 7 * 24 // the last week, an hour a bit
	recents       = 2      // memories of how often the host left of late
)

// A Record is what a host gossips of its past: enough for any reader, with a
// Pool, to say how long the host will stay. It is a value of small integers,
// each as it is on the wire; Recorder fills it and NewReader reads it. The zero
// Record is of a host of which nothing is known.
type Record struct {
	// State since Since: available, not, or (Blind) not watched.
	Up, Blind bool
	Since     uint32 // Unix seconds; what came before is in the counts below
	Leave     uint32 // Unix seconds of the departure that its owner declared; 0: none

	Known uint8 // hours for which the host was known at Since, at most 255

	// Ends and Lost count past sessions by length, see Lives. Lost stops at 15.
	Ends, Lost [octaves]uint8

	// Exits and Exposure are, for each UTC hour of the day, how often the host
	// left in it and how many hours it was there: indices into levels, 0 to 15.
	Exits, Exposure [24]uint8

	// Whole has a bit for each of the 168 whole hours before the hour of Since,
	// at the number of hours since 1970 modulo 168: was the host there through
	// all of it?
	Whole [wholeHours / 8]byte

	// RecentExits and RecentUp are, for each memory, the fading count of exits
	// (fineStep) and of hours there (256ths of the memory's length) at Since.
	RecentExits, RecentUp [recents]uint8

	// Excess is by how much each opinion but the first has lost more than it of the
	// questions that the host put to itself, as steps of a logarithm, -127 to 127.
	Excess [opinions - 1]int8

	// Lean is by how much the host stays more often than its opinions say, up to an hour and
	// longer, as steps of .4 in log-odds, -3 to 3. Records of before have none.
	Lean [leans]int8
}

// Flags in the second byte of a record; its other bits are the leans.
const (
	flagUp = 1 << iota
	flagBlind
	flagBits = iota
)

// AppendBinary appends the record's encoding, of RecordSize bytes.
func (r *Record) AppendBinary(b []byte) ([]byte, error) {
	if err := r.check(); err != nil {
		return b, err
	}
	flags := byte(0)
	if r.Up {
		flags |= flagUp
	}
	if r.Blind {
		flags |= flagBlind
	}
	for i, steps := range r.Lean {
		flags |= byte(steps) & leanMask << (flagBits + leanBits*i)
	}
	b = append(b, recordVersion, flags)
	b = binary.BigEndian.AppendUint32(b, r.Since)
	b = binary.BigEndian.AppendUint32(b, r.Leave)
	b = append(b, r.Known)
	b = append(b, r.Ends[:]...)
	for k := 0; k < octaves; k += 2 {
		b = append(b, r.Lost[k]<<4|r.Lost[k+1])
	}
	for h := range 24 {
		b = append(b, r.Exits[h]<<4|r.Exposure[h])
	}
	b = append(b, r.Whole[:]...)
	for i := range recents {
		b = append(b, r.RecentExits[i], r.RecentUp[i])
	}
	for _, e := range r.Excess {
		b = append(b, byte(e))
	}
	return b, nil
}

// MarshalBinary returns the record's encoding.
func (r *Record) MarshalBinary() ([]byte, error) {
	return r.AppendBinary(make([]byte, 0, RecordSize))
}

// UnmarshalBinary reads a record. Each record has one encoding, and anything
// else is refused: another length or version, values that no Recorder
// writes. It leaves r alone when it fails.
func (r *Record) UnmarshalBinary(b []byte) error {
	if len(b) != RecordSize {
		return fmt.Errorf("a survival record has %d bytes, this one %d", RecordSize, len(b))
	}
	if b[0] != recordVersion {
		return fmt.Errorf("survival record of version %d: this program reads version %d", b[0], recordVersion)
	}
	var n Record
	n.Up, n.Blind = b[1]&flagUp != 0, b[1]&flagBlind != 0
	for i := range n.Lean {
		n.Lean[i] = int8(b[1]>>(flagBits+leanBits*i)<<(8-leanBits)) >> (8 - leanBits)
	}
	n.Since, n.Leave, n.Known = binary.BigEndian.Uint32(b[2:]), binary.BigEndian.Uint32(b[6:]), b[10]
	b = b[11:]
	b = b[copy(n.Ends[:], b):]
	for k := range octaves {
		n.Lost[k] = b[k/2] >> (4 * (1 - k%2)) & 15
	}
	b = b[octaves/2:]
	for h := range 24 {
		n.Exits[h], n.Exposure[h] = b[h]>>4, b[h]&15
	}
	b = b[24:]
	b = b[copy(n.Whole[:], b):]
	for i := range recents {
		n.RecentExits[i], n.RecentUp[i] = b[2*i], b[2*i+1]
	}
	for i, e := range b[2*recents:] {
		n.Excess[i] = int8(e)
	}
	if err := n.check(); err != nil {
		return err
	}
	*r = n
	return nil
}

// check refuses what cannot be encoded or makes no sense.
func (r *Record) check() error {
	if r.Up && r.Blind {
		return fmt.Errorf("survival record of a host both seen and not watched")
	}
	for k, n := range r.Lost {
		if n > 15 {
			return fmt.Errorf("survival record counts %d sessions lost in octave %d: at most 15", n, k)
		}
	}
	for h := range 24 {
		if r.Exits[h] > 15 || r.Exposure[h] > 15 {
			return fmt.Errorf("survival record has levels %d and %d in hour %d: at most 15", r.Exits[h], r.Exposure[h], h)
		}
	}
	for i, steps := range r.Lean {
		if steps < -leanSteps || steps > leanSteps {
			return fmt.Errorf("survival record leans by %d steps (%d): at most %d", steps, i+1, leanSteps)
		}
	}
	for i, e := range r.Excess {
		if e < -excessSteps {
			return fmt.Errorf("survival record has %d for opinion %d: an excess is %d to %d", e, i+1, -excessSteps, excessSteps)
		}
	}
	return nil
}

// levels are what a half byte can say of exits and of hours: exact while small.
var levels = [16]float64{0, .25, .5, 1, 1.5, 2, 3, 4, 6, 8, 11, 14, 18, 22, 27, 32}

const mostLevel = 32

// level finds the nearest level.
func level(x float64) uint8 {
	for i := 1; i < len(levels); i++ {
		if x < (levels[i-1]+levels[i])/2 {
			return uint8(i - 1)
		}
	}
	return uint8(len(levels) - 1)
}

// A fading count is kept as steps of a logarithm: 0 to 190 within 3 %.
const (
	finePerOctave = 24
	fineUnit      = 1.0 / 8
)

func fineStep(x float64) uint8 {
	return uint8(min(255, math.Round(finePerOctave*math.Log2(1+x/fineUnit))))
}

func fineValue(b uint8) float64 { return fineUnit * (math.Exp2(float64(b)/finePerOctave) - 1) }

// millis is a time as the package counts it. What lies before 1970 is taken to
// be 1970: no host of this network was seen then.
func millis(t time.Time) int64 { return max(0, t.UnixMilli()) }

// unixSeconds is a time as a record has it.
func unixSeconds(ms int64) uint32 { return uint32(min(ms/1000, math.MaxUint32)) }
