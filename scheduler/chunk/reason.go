package chunk

import "fmt"

// A Reason says, for people, why a chunk has its size. It is put into words only when
// somebody asks. The zero Reason says nothing.
type Reason struct {
	format  string
	x, y, z float64
	values  int // of x, y, z, that the format has
}

// Because returns the reason that text says.
func Because(text string) Reason { return Reason{format: text} }

// because returns the reason that the format, with a verb for each of up to three
// values, says.
func because(format string, values ...float64) Reason {
	r := Reason{format: format, values: len(values)}
	for i, to := range []*float64{&r.x, &r.y, &r.z} {
		if i < len(values) {
			*to = values[i]
		}
	}
	return r
}

// String returns the reason in words.
func (r Reason) String() string {
	if r.values == 0 {
		return r.format
	}
	return fmt.Sprintf(r.format, []any{r.x, r.y, r.z}[:r.values]...)
}
