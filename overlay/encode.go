package overlay

import (
	"fmt"

	"github.com/fxamacker/cbor/v2"
)

// Limits of the decoders. The library allocates nothing beyond them, so that
// hostile bytes cost little: an advert has 25 fields and at most MaxAddrs
// addresses, a manifest 17 and at most MaxAllowed peers.
const (
	maxFields  = 25
	maxDepth   = 4
	sigContext = "godwit overlay 1 " // keeps a signature from meaning anything elsewhere
)

// encoder writes canonical CBOR (RFC 8949 section 4.2), so that equal values
// are equal bytes and a signature over them can be checked by anyone.
var encoder = func() cbor.EncMode {
	m, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return m
}()

// decoder and manifestDecoder refuse what encoder would not write.
var (
	decoder         = newDecoder(max(maxFields, MaxAddrs))
	manifestDecoder = newDecoder(MaxAllowed)
)

func newDecoder(elements int) cbor.DecMode {
	m, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		MaxArrayElements:  elements,
		MaxMapPairs:       maxFields,
		MaxNestedLevels:   maxDepth,
	}.DecMode()
	if err != nil {
		panic(err) // the options are constant
	}
	return m
}

// signedBytes returns what is signed for v: kind tells an advert from a
// manifest, and v has its signature removed.
func signedBytes(kind string, v any) ([]byte, error) {
	b, err := encoder.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("overlay: encoding %s: %w", kind, err)
	}
	return append([]byte(sigContext+kind+"\n"), b...), nil
}
