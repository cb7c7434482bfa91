package task

import (
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multibase"
	"github.com/multiformats/go-multihash"
	"pgregory.net/rapid"
)

const (
	emptyFile = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku" // as kubo adds a file of nothing
	emptyDir  = "bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354" // kubo's empty UnixFS directory
	aJob      = "bafyreigp5ftrx7eerea6huzfkxnclvrrxqwewyutfbap2hcetz7gitdvxe" // of DAG-CBOR
)

// badCIDs returns what looks like a CID and is none of ours.
func badCIDs(t *testing.T) map[string]string {
	good, err := cid.Decode(emptyFile)
	if err != nil {
		t.Fatal(err)
	}
	digest := good.Hash()[2:]
	sha3, err := multihash.Encode(digest, multihash.SHA3_256)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"nothing":        "",
		"version 0":      "QmUNLLsPACCz1vLxQVkXqqLX5R1X345qqfHbsf67hvA3Nn",
		"identity hash":  "bafkqaaa",
		"base58":         good.Encode(multibase.MustNewEncoder(multibase.Base58BTC)),
		"upper case":     strings.ToUpper(emptyFile),
		"other hash":     cid.NewCidV1(cid.Raw, sha3).String(),
		"other codec":    cid.NewCidV1(cid.GitRaw, good.Hash()).String(),
		"spare bits":     emptyFile[:len(emptyFile)-1] + "v",
		"not a letter":   emptyFile[:len(emptyFile)-2] + "1u",
		"trailing bytes": emptyFile + "aa",
		"huge":           strings.Repeat("b", 1<<20),
	}
}

func TestParseCID(t *testing.T) {
	for _, s := range []string{emptyFile, emptyDir, aJob} {
		if c, err := ParseCID(s); err != nil || string(c) != s || !c.Valid() {
			t.Errorf("%s: %v", s, err)
		}
	}
	for name, s := range badCIDs(t) {
		if _, err := ParseCID(s); err == nil || CID(s).Valid() || len(err.Error()) > 300 {
			t.Errorf("%s %.80s: %.400v", name, s, err)
		}
	}
	if got := RawCID(nil); got != emptyFile {
		t.Errorf("the empty file is %s, want %s", got, emptyFile)
	}
}

func TestParseJobID(t *testing.T) {
	if id, err := ParseJobID(aJob); err != nil || id != aJob {
		t.Errorf("%v", err)
	}
	for _, s := range []string{"", emptyFile, emptyDir, aJob + "/0"} {
		if _, err := ParseJobID(s); err == nil {
			t.Errorf("%q is a job's", s)
		}
	}
}

func TestParseTaskID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := TaskID{aJob, rapid.Uint64().Draw(t, "index")}
		if got, err := ParseTaskID(want.String()); err != nil || got != want {
			t.Fatalf("%v is %v, %v", want, got, err)
		}
	})
	for _, s := range []string{"", "/", aJob, aJob + "/", "/0", aJob + "/-1", aJob + "/+1", aJob + "/01", aJob + "/1/",
		aJob + "/ 1", aJob + "/18446744073709551616", emptyFile + "/0"} {
		if id, err := ParseTaskID(s); err == nil {
			t.Errorf("%q is %v", s, id)
		}
	}
}
