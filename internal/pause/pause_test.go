package pause

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, tt := range []struct {
			name string
			ctx  context.Context
			d    time.Duration
			want error
			took time.Duration
		}{
			{"until the context ends", short, time.Hour, context.DeadlineExceeded, time.Second},
			{"no more once it has ended", short, time.Hour, context.DeadlineExceeded, 0},
			{"the whole time", t.Context(), time.Minute, nil, time.Minute},
			{"no time", t.Context(), -time.Second, nil, 0},
		} {
			begun := time.Now()
			if err := For(tt.ctx, tt.d); !errors.Is(err, tt.want) || time.Since(begun) != tt.took {
				t.Errorf("%s: %v after %v, want %v after %v", tt.name, err, time.Since(begun), tt.want, tt.took)
			}
		}
	})
}
