package task

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// A shape is what bytes must look like to be decoded into a type, as far as that decides
// about memory: where lists are, how many elements they may have and how large those are.
type shape struct {
	kind   shapeKind
	name   string // of the type, for errors
	size   int    // bytes that a value of it takes where it lies
	elem   *shape // of a list, a pointer, or the values of a map
	key    *shape // of the keys of a map
	fields map[uint64]*field
	order  []*field // of a struct that travels as a list
	most   int      // elements, of a list or map; see the tag `most`
	bytes  bool     // of a list: it may travel as a byte string
}

// A field is one of a struct. Its own bound holds for a list or map in it.
type field struct {
	of   *shape
	most int // 0 for none of its own
}

type shapeKind uint8

const (
	plain  shapeKind = iota // a number, a text, bytes, a truth
	opaque                  // what decodes itself
	list
	dict
	record  // a struct that travels as a map
	tuple   // a struct that travels as a list
	pointer // to what may be null
)

var unmarshaler = reflect.TypeFor[cbor.Unmarshaler]()

// shapes are those that were made. The map is not written to but replaced.
var shapes atomic.Pointer[map[reflect.Type]*shape]

// shapeOf returns the shape of a type. It is made once, or a few times if that is asked for
// at once.
func shapeOf(t reflect.Type) *shape {
	known := shapes.Load()
	if known != nil && (*known)[t] != nil {
		return (*known)[t]
	}
	s := makeShape(t, map[reflect.Type]*shape{})
	more := map[reflect.Type]*shape{t: s}
	if known != nil {
		maps.Copy(more, *known)
	}
	shapes.CompareAndSwap(known, &more) // else another was as fast, and this one is made again
	return s
}

// makeShape makes the shape of a type; made has those of the types around it, so that one
// that has itself in it comes to an end.
func makeShape(t reflect.Type, made map[reflect.Type]*shape) *shape {
	if s := made[t]; s != nil {
		return s
	}
	s := &shape{name: t.String(), size: int(t.Size()), most: maxElements}
	made[t] = s
	switch {
	case t == reflect.TypeFor[time.Time](): // which travels as a text
	case reflect.PointerTo(t).Implements(unmarshaler) || t.Kind() == reflect.Interface:
		s.kind = opaque
	case t.Kind() == reflect.Pointer:
		s.kind, s.elem = pointer, makeShape(t.Elem(), made)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		s.kind, s.elem, s.bytes = list, makeShape(t.Elem(), made), t.Elem().Kind() == reflect.Uint8
	case t.Kind() == reflect.Map:
		s.kind, s.key, s.elem, s.most = dict, makeShape(t.Key(), made), makeShape(t.Elem(), made), maxPairs
	case t.Kind() == reflect.Struct:
		s.addFields(t, made)
	}
	return s
}

// addFields makes s the shape of a struct.
func (s *shape) addFields(t reflect.Type, made map[reflect.Type]*shape) {
	s.kind, s.fields = record, map[uint64]*field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("cbor"), ",")
		if f.Name == "_" && options == "toarray" {
			s.kind = tuple
		}
		if !f.IsExported() {
			continue
		}
		of := &field{of: makeShape(f.Type, made)}
		of.most, _ = strconv.Atoi(f.Tag.Get("most"))
		s.order = append(s.order, of)
		if k, err := strconv.ParseUint(name, 10, 64); err == nil {
			s.fields[k] = of
		}
	}
}

// A survey goes through bytes before they are decoded, and adds up what that will allocate.
type survey struct {
	b     []byte
	at    int
	left  int // bytes that may still be allocated
	level int
}

var (
	errCut    = errors.New("the bytes end too soon")
	errGrowth = errors.New("it takes many times as much memory as it has bytes")
)

// heads of the encoding (RFC 8949, section 3).
const (
	majorBytes = 2
	majorText  = 3
	majorList  = 4
	majorMap   = 5
	majorTag   = 6
	majorOther = 7

	oneByteMore = 24 // and 25, 26, 27: 2, 4 and 8 bytes
	nullHead    = 0xf6
	undefined   = 0xf7
)

// head reads the head of a value.
func (s *survey) head() (major byte, n uint64, null bool, err error) {
	if s.at >= len(s.b) {
		return 0, 0, false, errCut
	}
	first := s.b[s.at]
	s.at++
	major, n = first>>5, uint64(first&0x1f)
	if n >= oneByteMore {
		size := 1 << (n - oneByteMore)
		if size > 8 {
			return 0, 0, false, errors.New("a length that is not said at the beginning")
		}
		if len(s.b)-s.at < size {
			return 0, 0, false, errCut
		}
		var wide [8]byte
		copy(wide[8-size:], s.b[s.at:s.at+size])
		n = binary.BigEndian.Uint64(wide[:])
		s.at += size
	}
	return major, n, first == nullHead || first == undefined, nil
}

// spend notes that memory will be taken.
func (s *survey) spend(n int) error {
	if s.left -= n; s.left < 0 {
		return errGrowth
	}
	return nil
}

// skip passes over what a head of a text or bytes announces.
func (s *survey) skip(n uint64) error {
	if n > uint64(len(s.b)-s.at) {
		return errCut
	}
	s.at += int(n)
	return nil
}

// value surveys one value of a shape; most bounds it if it is a list or map, 0 for its own
// bound.
func (s *survey) value(of *shape, most int) error {
	if s.level++; s.level > maxNesting+1 {
		return errors.New("it is nested too deep")
	}
	err := s.inner(of, most)
	s.level--
	return err
}

// inner surveys a value as value does.
func (s *survey) inner(of *shape, most int) error {
	if of.kind == opaque {
		return s.pass(s.spend)
	}
	if of.kind == pointer {
		if s.at < len(s.b) && (s.b[s.at] == nullHead || s.b[s.at] == undefined) {
			s.at++
			return nil
		}
		if err := s.spend(of.elem.size); err != nil {
			return err
		}
		return s.value(of.elem, most)
	}
	major, n, null, err := s.head()
	if err != nil || null {
		return err
	}
	if most == 0 {
		most = of.most
	}
	switch {
	case major == majorText || major == majorBytes:
		if of.kind != plain && !of.bytes {
			return fmt.Errorf("a text for a %s", of.name)
		}
		if err := s.skip(n); err != nil || n == 1 { // of one byte there is a text already
			return err
		}
		return s.spend(int(n))
	case major == majorList && (of.kind == list || of.kind == tuple), major == majorMap &&
		(of.kind == dict || of.kind == record):
		return s.elements(of, n, most)
	case major == majorList || major == majorMap || major == majorTag || of.kind != plain:
		return fmt.Errorf("a %s of another kind", of.name)
	}
	return nil
}

// elements surveys the n elements, or pairs, of a value.
func (s *survey) elements(of *shape, n uint64, most int) error {
	if n > uint64(len(s.b)-s.at) {
		return errCut
	}
	if of.kind != record && of.kind != tuple && n > uint64(most) {
		return fmt.Errorf("a %s of %d, the most is %d", of.name, n, most)
	}
	switch of.kind {
	case record:
		return s.pairs(of, int(n))
	case tuple:
		return s.positions(of, int(n))
	case dict:
		// A map of Go takes up to about twice its pairs, and something for itself.
		const own = 64
		if err := s.spend(own + 2*int(n)*(of.key.size+of.elem.size)); err != nil {
			return err
		}
	default:
		if err := s.spend(int(n) * of.elem.size); err != nil {
			return err
		}
	}
	for range n {
		if of.kind == dict {
			if err := s.value(of.key, 0); err != nil {
				return err
			}
		}
		if err := s.value(of.elem, 0); err != nil {
			return err
		}
	}
	return nil
}

// What a struct may have beside what is known of it: fields that a later version added. The
// decoder notes the key of each.
const (
	maxUnknown   = 32
	unknownBytes = 128
)

// pairs surveys the n fields of a struct.
func (s *survey) pairs(of *shape, n int) error {
	unknown := 0
	for range n {
		start := s.at
		major, key, _, err := s.head()
		if err != nil {
			return err
		}
		if f := of.fields[key]; f != nil && major == 0 {
			if err := s.value(f.of, f.most); err != nil {
				return err
			}
			continue
		}
		if unknown++; unknown > maxUnknown {
			return fmt.Errorf("a %s with %d fields that it has not", of.name, unknown)
		}
		s.at = start
		if err := s.spend(unknownBytes); err != nil {
			return err
		}
		if err := s.pass(s.spend); err != nil { // the key
			return err
		}
		if err := s.pass(nil); err != nil {
			return err
		}
	}
	return nil
}

// positions surveys the n fields of a struct that travels as a list.
func (s *survey) positions(of *shape, n int) error {
	for i := range n {
		if i >= len(of.order) {
			return fmt.Errorf("a %s of %d fields", of.name, n)
		}
		if err := s.value(of.order[i].of, of.order[i].most); err != nil {
			return err
		}
	}
	return nil
}

// pass passes over a value that nothing is known of; spend, unless it is nil, is told its
// bytes.
func (s *survey) pass(spend func(int) error) error {
	start := s.at
	for todo := uint64(1); todo > 0; todo-- {
		major, n, _, err := s.head()
		if err != nil {
			return err
		}
		switch major {
		case majorBytes, majorText:
			err = s.skip(n)
		case majorList, majorMap:
			if n > uint64(len(s.b)-s.at) {
				return errCut
			}
			todo += n
			if major == majorMap {
				todo += n
			}
		case majorTag:
			err = errors.New("a tag")
		}
		if err != nil {
			return err
		}
	}
	if spend != nil {
		return spend(s.at - start)
	}
	return nil
}
