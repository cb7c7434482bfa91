package exec

import (
	"fmt"

	"godwit/overlay"
)

// AnyClass, in Speeds, is every class that is not there itself.
const AnyClass = "*"

// Speeds are how fast a Sleeper is at tasks, by the class of their job: above 0, and at
// most overlay.MaxSpeed. Classes that are not there, nor by AnyClass, have speed 1.
type Speeds map[string]float64

// Check returns what is wrong with the speeds, or nil.
func (s Speeds) Check() error {
	for class, speed := range s {
		if !(speed > 0 && speed <= overlay.MaxSpeed) {
			return fmt.Errorf("the speed imposed on class %q is %v, want more than 0 and at most %v",
				class, speed, float64(overlay.MaxSpeed))
		}
	}
	return nil
}

// of is the speed of a class.
func (s Speeds) of(class string) float64 {
	if v, ok := s[class]; ok {
		return v
	}
	if v, ok := s[AnyClass]; ok {
		return v
	}
	return 1
}
