package task

import "fmt"

// A floor is what an overlay's rules have at least of the results of each job checked; nil is none.

// Less reports whether it has less checked than a floor.
func (v *Verify) Less(floor *Verify) bool {
	switch {
	case floor == nil:
		return false
	case v == nil:
		return true
	case v.Audits == auditsUnit: // nothing is more
		return false
	}
	return v.Audits < floor.Audits || floor.Wrong > 0 && (v.Wrong == 0 || v.Wrong > floor.Wrong)
}

// Percent returns a rule that has a share of the tasks run again, 0 to 1.
func Percent(share float64) *Verify { return &Verify{Audits: uint32(share * auditsUnit)} }

// AtLeast returns it, raised to a floor.
func (v *Verify) AtLeast(floor *Verify) *Verify {
	if !v.Less(floor) {
		return v
	}
	out := v.with("")
	if out == nil {
		out = &Verify{}
	} else {
		out.Confirm = v.Confirm
	}
	out.Audits = max(out.Audits, floor.Audits)
	if floor.Wrong > 0 && (out.Wrong == 0 || out.Wrong > floor.Wrong) {
		out.Wrong = floor.Wrong
	}
	return out
}

// CheckFloor returns an error unless it can be an overlay's floor: one of what ParseVerify returns.
func (v *Verify) CheckFloor() error {
	if v == nil {
		return nil
	}
	if f := v.check(); f != nil {
		return f
	}
	if len(v.Draw) > 0 || v.Confirm != "" || len(v.Auditors) > 0 || v.Spacing > 0 || v.Audits > 0 && v.Wrong > 0 {
		return fmt.Errorf("a floor of %v: it has what is a job's alone", v)
	}
	return nil
}
