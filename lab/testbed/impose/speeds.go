package impose

import (
	"strconv"
	"strings"

	"godwit/internal/failure"
)

// ReadSpeeds reads speeds by class.
func ReadSpeeds(text string) (map[string]float64, error) {
	if text == "" {
		return nil, nil
	}
	speeds := map[string]float64{}
	for part := range strings.SplitSeq(text, ",") {
		class, value, ok := strings.Cut(part, "=")
		speed, err := strconv.ParseFloat(value, 64)
		if _, twice := speeds[class]; !ok || err != nil || twice {
			return nil, failure.Usage("write CLASS=SPEED, each class once, with commas between them",
				"--impose: %q is no speed of a class", part)
		}
		speeds[class] = speed
	}
	return speeds, nil
}
