package task

// A Sweep is the product of its axes, each point repeated Repeat times. The
// zero value has one point. It is never listed in memory: points are computed
// from their index, the last axis (then the trial) moving fastest.
type Sweep struct {
	Axes   []Axis `cbor:"1,keyasint"`
	Repeat uint64 `cbor:"2,keyasint"` // Monte-Carlo trials per point, in {{.trial}}; 0 means 1
}

// An Axis is one swept parameter: either a list of Values, or the numbers
// From, From+Step, ... up to To. Numbers are kept as decimal fractions (an
// integer mantissa over 10^Decimals), so that stepping adds no rounding error.
type Axis struct {
	Name     string   `cbor:"1,keyasint"`
	Values   []string `cbor:"2,keyasint"` // if not empty, the other fields are zero
	From     int64    `cbor:"3,keyasint"` // mantissa
	Step     int64    `cbor:"4,keyasint"` // mantissa, never 0 for a range
	Count    uint64   `cbor:"5,keyasint"` // points of a range
	Decimals uint8    `cbor:"6,keyasint"` // digits after the point in From and Step
}
