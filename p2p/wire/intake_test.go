package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
)

var errNoRoom = errors.New("no room")

// A purse is a Memory of so many bytes.
type purse struct{ room, held int }

func (p *purse) ReserveMemory(n int, _ uint8) error {
	if p.held+n > p.room {
		return errNoRoom
	}
	p.held += n
	return nil
}

func (p *purse) ReleaseMemory(n int) { p.held -= n }

// Little is not counted, much is from its first byte, and all is given back.
func TestIntake(t *testing.T) {
	p := &purse{room: 3 * uncounted}
	in := Counted(p, func() uint8 { return 0 })
	for _, step := range []struct{ grow, held int }{
		{uncounted, 0}, {1, uncounted + 1}, {uncounted, 2*uncounted + 1},
	} {
		if err := in.Grow(step.grow); err != nil || p.held != step.held {
			t.Errorf("%d bytes more: %d are held, %v; want %d", step.grow, p.held, err, step.held)
		}
	}
	if err := in.Grow(uncounted); !errors.Is(err, errNoRoom) || p.held != 2*uncounted+1 {
		t.Errorf("beyond what there is: %v, %d are held", err, p.held)
	}
	in.Release()
	in.Release()
	if p.held != 0 {
		t.Errorf("%d are held after all was given back", p.held)
	}
	var none *Intake
	if err := none.Grow(1 << 40); err != nil {
		t.Errorf("an intake that counts nothing: %v", err)
	}
	none.Release()
}

// Of a message of 2 MiB no more is counted than twice what has come, and it is cut
// off where there is no room for more.
func TestReadFrameCounts(t *testing.T) {
	head := "\x80\x80\x80\x01" // 2 MiB
	for _, tt := range []struct {
		sent, most int
		want       error
	}{
		{300 << 10, 600 << 10, io.ErrUnexpectedEOF},
		{3 << 19, 1 << 20, errNoRoom},
	} {
		p := &purse{room: 1 << 20}
		in := Counted(p, func() uint8 { return 0 })
		_, err := ReadFrame(reader([]byte(head+strings.Repeat("x", tt.sent))), 4<<20, in)
		if !errors.Is(err, tt.want) || p.held > tt.most {
			t.Errorf("%d bytes sent: %v, %d are held; want %v, at most %d", tt.sent, err, p.held, tt.want, tt.most)
		}
		if in.Release(); p.held != 0 {
			t.Errorf("%d bytes sent: %d are held after all was given back", tt.sent, p.held)
		}
	}
}
