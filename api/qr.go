package api

import (
	"fmt"
	"strings"

	goqr "github.com/piglig/go-qr"
)

// qr returns a text as a QR code, of the least redundancy: a ticket is long, and a screen is clean.
func qr(text string) ([]string, error) {
	code, err := goqr.EncodeText(text, goqr.Low)
	if err != nil {
		return nil, fmt.Errorf("drawing a ticket: %w", err)
	}
	n := code.Size()
	rows := make([]string, n)
	for y := range n {
		var row strings.Builder
		for x := range n {
			if code.Module(x, y) {
				row.WriteByte('1')
			} else {
				row.WriteByte('0')
			}
		}
		rows[y] = row.String()
	}
	return rows, nil
}
