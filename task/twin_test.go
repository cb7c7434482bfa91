package task

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestDecimalsAgree: a text is a decimal if it looks like one and has at most 18
// digits that matter; then it is that rational number, and is written with the fewest
// digits.
func TestDecimalsAgree(t *testing.T) {
	looks := regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)
	texts := rapid.OneOf(rapid.StringMatching(`[+-]?[0-9]{0,20}(\.[0-9]{0,20})?`),
		rapid.StringMatching(`[+-]?0?[0-9]{1,9}\.[0-9]{1,9}0{0,3}`),
		rapid.SampledFrom([]string{"1e3", "0x1", "--1", "+-1", "1.2.3", " 1", "1 ", "٣", "1_0", "Inf"}))
	rapid.Check(t, func(t *rapid.T) {
		s := texts.Draw(t, "text")
		d, ok := parseDecimal(s)
		whole, fraction, _ := strings.Cut(strings.TrimLeft(s, "+-"), ".")
		fraction = strings.TrimRight(fraction, "0")
		digits := len(strings.TrimLeft(whole, "0") + fraction)
		if want := looks.MatchString(s) && digits <= 18 && len(fraction) <= 18; ok != want {
			t.Fatalf("%q: a decimal %v, want %v", s, ok, want)
		}
		if !ok {
			return
		}
		want, _ := new(big.Rat).SetString(strings.TrimPrefix(s, "+"))
		got := new(big.Rat).SetFrac(big.NewInt(d.mantissa),
			new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.decimals)), nil))
		if got.Cmp(want) != 0 {
			t.Fatalf("%q is %v, want %v", s, got, want)
		}
		if text := d.String(); text != strings.TrimSuffix(want.FloatString(len(fraction)), ".") ||
			len(text) > maxDecimalText {
			t.Fatalf("%q is written %q", s, text)
		}
		if n := d.negated(); n.mantissa != -d.mantissa || n.decimals != d.decimals {
			t.Fatalf("%q negated is %v", s, n)
		}
	})
}

// TestAlign: decimals of any number of digits are made comparable without changing
// one, or refused where a mantissa has too many digits then.
func TestAlign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ds, before []decimal
		var most uint8
		for range 3 {
			d := decimal{rapid.Int64Range(-1e9, 1e9).Draw(t, "mantissa"),
				uint8(rapid.IntRange(0, 12).Draw(t, "decimals"))}
			ds, most = append(ds, d), max(most, d.decimals)
		}
		before = slices.Clone(ds)
		fits := true
		for _, d := range before {
			m := new(big.Int).Mul(big.NewInt(d.mantissa),
				new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(most-d.decimals)), nil))
			fits = fits && m.CmpAbs(big.NewInt(maxMantissa)) <= 0
		}
		out, ok := align(ds...)
		if ok != fits {
			t.Fatalf("%v aligned: %v, want %v", before, ok, fits)
		}
		for i, d := range out {
			if d.decimals != most || d.String() != before[i].String() {
				t.Fatalf("%v became %v", before[i], d)
			}
		}
	})
}

// TestTemplatesAgree: a template of names and literals expands to what its parts put
// together do, and is no longer than was foreseen.
func TestTemplatesAgree(t *testing.T) {
	params := []EnvVar{{"angle", "0.5"}, {"b_2", ""}, {"text", "{{.angle}} é"}, {Trial, "7"}}
	var names []string
	var refs []reference
	for i, p := range params {
		names, refs = append(names, p.Name), append(refs, reference{p.Name, i, len(p.Value)})
	}
	rapid.Check(t, func(t *rapid.T) {
		var template, want strings.Builder
		used := make([]bool, len(params))
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			switch rapid.IntRange(0, 2).Draw(t, "part") {
			case 0:
				s := rapid.SampledFrom([]string{"", "-", "} }", "é", "}}", "out."}).Draw(t, "literal")
				template.WriteString(s)
				want.WriteString(s)
			case 1:
				template.WriteString(`{{"{{"}}`)
				want.WriteString("{{")
			default:
				i := rapid.IntRange(0, len(params)-1).Draw(t, "name")
				template.WriteString(rapid.SampledFrom([]string{"{{.%s}}", "{{ .%s }}", "{{   .%s}}"}).Draw(t, "form"))
				s := strings.Replace(template.String(), "%s", names[i], 1)
				template.Reset()
				template.WriteString(s)
				want.WriteString(params[i].Value)
				used[i] = true
			}
		}
		got, err := expand(template.String(), params)
		if err != nil || got != want.String() {
			t.Fatalf("%q: %q, %v, want %q", template.String(), got, err, want.String())
		}
		if u, err := mentions(template.String(), refs); err != nil || !slices.Equal(u, used) {
			t.Fatalf("%q mentions %v, %v, want %v", template.String(), u, err, used)
		}
		if n, err := expandedSize(template.String(), refs); err != nil || n < len(got) {
			t.Fatalf("%q has %d bytes, %d were foreseen, %v", template.String(), len(got), n, err)
		}
	})
}

// TestMalformedTemplates: each with what to do about it.
func TestMalformedTemplates(t *testing.T) {
	for template, want := range map[string][2]string{
		"a {{":       {`"a {{": {{ without }}`, `write {{.name}}, or {{"{{"} for the braces themselves`},
		"{{.angle}":  {`"{{.angle}": {{ without }}`, `write {{.name}}, or {{"{{"} for the braces themselves`},
		"{{angle}}":  {"{{angle}} is not a template", "write {{.angle}}, with a point"},
		"{{.angel}}": {`there is no axis "angel" for {{.angel}}`, "did you mean {{.angle}}?"},
		"{{.other}}": {`there is no axis "other" for {{.other}}`, "name an axis of the sweep, or trial"},
		"{{.a b}}": {`"{{.a b}}" is not a template`,
			"only {{.name}} is understood, with the name of an axis or trial"},
		"{{}}": {`"{{}}" is not a template`,
			"only {{.name}} is understood, with the name of an axis or trial"},
		"{{if .angle}}": {`"{{if .angle}}" is not a template`,
			"only {{.name}} is understood, with the name of an axis or trial"},
		"{{\t.angle}}": {`"{{\t.angle}}" is not a template`,
			"only {{.name}} is understood, with the name of an axis or trial"},
		"{{.angle}}{{.": {`"{{.": {{ without }}`, `write {{.name}}, or {{"{{"} for the braces themselves`},
	} {
		_, err := expand(template, []EnvVar{{"angle", "1"}, {Trial, "0"}})
		e, ok := err.(*templateError)
		if !ok || !strings.HasSuffix(e.msg, strings.TrimPrefix(want[0], `"{{.": `)) || e.hint != want[1] &&
			!strings.HasPrefix(e.hint, want[1][:20]) {
			t.Errorf("%q: got %v", template, err)
		}
	}
}

// TestHostileCBOR: what is refused though it is CBOR, or nearly.
func TestHostileCBOR(t *testing.T) {
	type value struct {
		N int            `cbor:"1,keyasint"`
		S string         `cbor:"2,keyasint"`
		L []int          `cbor:"3,keyasint"`
		M map[string]int `cbor:"4,keyasint"`
		F float64        `cbor:"5,keyasint"`
		A any            `cbor:"6,keyasint"`
	}
	for name, in := range map[string]string{
		"nothing":                  "",
		"cut in a map":             "a101",
		"cut in a string":          "a10263616",
		"a key twice":              "a201010102",
		"bytes behind":             "a1010100",
		"a text of no UTF-8":       "a10261ff",
		"an indefinite map":        "bf0101ff",
		"an indefinite string":     "a1027f6161ff",
		"an indefinite array":      "a1039f01ff",
		"a tag":                    "a101c101",
		"a big number":             "a101c249010000000000000000",
		"NaN":                      "a105f97e00",
		"infinity":                 "a105fb7ff0000000000000",
		"negative infinity":        "a105f9fc00",
		"an array of 2^32":         "a1039affffffff",
		"an array of 2^63":         "a1039b7fffffffffffffff",
		"a map of 2^32":            "a104baffffffff",
		"a string of 2^63":         "a1027b7fffffffffffffff",
		"a number over the int":    "a1011bffffffffffffffff",
		"a string for a number":    "a1016131",
		"a number for a string":    "a10201",
		"reserved":                 "a1011c",
		"a break":                  "ff",
		"nested in 25 arrays":      "a106" + strings.Repeat("81", 25) + "01",
		"nested in a million maps": "a106" + strings.Repeat("a101", 1_000_000) + "01",
	} {
		if len(in)%2 == 1 {
			in = in[:len(in)-1]
		}
		b, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(name, err)
		}
		var v value
		if err := Decode(b, &v); err == nil || !strings.HasPrefix(err.Error(), "decoding *task.value: ") {
			t.Errorf("%s: read as %+v, %v", name, v, err)
		}
	}
	var v value
	if err := Decode(make([]byte, MaxEncoded+1), &v); err == nil ||
		err.Error() != fmt.Sprintf("decoding *task.value: %d bytes, the most is %d", MaxEncoded+1, MaxEncoded) {
		t.Errorf("too much: got %v", err)
	}
	// What a later version may add is skipped, and any order of keys is read.
	if err := Decode([]byte("\xa3\x02\x61x\x18\x63\x81\x01\x01\x07"), &v); err != nil || v.N != 7 || v.S != "x" {
		t.Errorf("with an unknown key: %+v, %v", v, err)
	}
}

// TestEncodingVectors: RFC 8949's deterministic form, of the things that we encode.
func TestEncodingVectors(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{0, "00"}, {23, "17"}, {24, "1818"}, {-1, "20"}, {-256, "38ff"}, {uint64(math.MaxUint64), "1bffffffffffffffff"},
		{"ü", "62c3bc"},
		{[]byte{1, 2}, "420102"}, {[]string{"a"}, "816161"}, {true, "f5"}, {nil, "f6"}, {1.5, "f93e00"},
		{1.1, "fb3ff199999999999a"},
		// keys by their encoded bytes, so the shorter first
		{map[string]int{"bb": 2, "a": 1, "c": 3}, "a361610161630362626202"},
		{EnvVar{"n", "v"}, "a201616e026176"}, {Checkpoint{}, "a201f40200"}, {[2]byte{1, 2}, "420102"},
	} {
		b, err := Encode(c.v)
		if got := hex.EncodeToString(b); err != nil || got != c.want {
			t.Errorf("%v: %s, %v, want %s", c.v, got, err, c.want)
		}
	}
	if _, err := Encode(make(chan int)); err == nil || !strings.HasPrefix(err.Error(), "encoding chan int: ") {
		t.Errorf("a channel: got %v", err)
	}
}

// TestPathsThatAreNone: each with the reason and a way out.
func TestPathsThatAreNone(t *testing.T) {
	for p, want := range map[string][2]string{
		"": {"the file name is empty", "name a file, relative to the sandbox's root"},
		"/a": {`file name "/a" is absolute`,
			"files lie at / inside the sandbox: write the name without the leading /"},
		`a\b`: {`file name "a\\b" contains a backslash`, "separate directories by /"},
		"C:x": {`file name "C:x" begins with a drive letter`,
			"write a name relative to the sandbox's root"},
		"a\nb": {`file name "a\nb" contains a control character or is not UTF-8`,
			"rename the file"},
		"a\xff": {`file name "a\xff" contains a control character or is not UTF-8`,
			"rename the file"},
		"..": {`file name ".." leaves the sandbox`,
			"name files by their way down from the sandbox's root, without .."},
		"a/../b": {`file name "a/../b" leaves the sandbox`,
			"name files by their way down from the sandbox's root, without .."},
		"a//b":                          {`file name "a//b" has a component that names nothing`, `write "a/b"`},
		"a/./b/":                        {`file name "a/./b/" has a component that names nothing`, `write "a/b"`},
		strings.Repeat("d/", 32) + "f":  {`is 32 directories deep, the most is 31`, "use fewer directories"},
		strings.Repeat("x", 256):        {"has a component of 256 bytes, the most is 255", "use a shorter name"},
		strings.Repeat("x/", 256) + "y": {"has 513 bytes, the most is 512", "use a shorter name"},
	} {
		e := checkPath(p)
		if e == nil || !strings.HasSuffix(e.msg, want[0]) || e.hint != want[1] || ValidSandboxPath(p) == nil {
			t.Errorf("%.30q: got %+v, want %q", p, e, want)
		}
	}
	for _, p := range []string{"a", "...", "a..b", ".hidden", "ü/ä b", strings.Repeat("d/", 31) + "f",
		strings.Repeat("x", 255)} {
		if err := ValidSandboxPath(p); err != nil {
			t.Errorf("%.30q: %v", p, err)
		}
	}
	for p, want := range map[string]string{
		"../x": `output "../x" leaves the sandbox`, "[a": `output "[a" is not a pattern: a [ has no matching ]`,
		"{{.a}}.png": `output "{{.a}}.png" contains a template`,
		"":           "the output is empty", "/x": `output "/x" is absolute`,
	} {
		if err := ValidOutputPattern(p); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", p, err, want)
		}
	}
}

// TestSizesAgree: a size is its number times its unit, and a fraction of a byte is
// dropped.
func TestSizesAgree(t *testing.T) {
	units := map[string]int64{"": 1, "B": 1, "kb": 1000, "KiB": 1024, "MB": 1e6, "mib": 1 << 20, "GB": 1e9,
		"GiB": 1 << 30, "TB": 1e12, "TiB": 1 << 40}
	names := make([]string, 0, len(units))
	for n := range units {
		names = append(names, n)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.StringMatching(`[0-9]{1,9}(\.[0-9]{1,6})?`).Draw(t, "number")
		unit := rapid.SampledFrom(names).Draw(t, "unit")
		space := rapid.SampledFrom([]string{"", " "}).Draw(t, "space")
		want, _ := new(big.Rat).SetString(number)
		want.Mul(want, new(big.Rat).SetInt64(units[unit]))
		n := new(big.Int).Quo(want.Num(), want.Denom())
		got, err := ParseSize(number + space + unit)
		if n.IsInt64() != (err == nil) || err == nil && got != n.Int64() {
			t.Fatalf("%s: %d, %v, want %v", number+space+unit, got, err, n)
		}
	})
	for in, want := range map[string]string{
		"": `"" is not a size such as 256MiB`, "MiB": `"MiB" is not a size such as 256MiB`,
		"-1": `"-1" is not a size such as 256MiB`,
		"1.": `"1." is not a size such as 256MiB`, "5 parsecs": `"5 parsecs" is not a size: there is no unit "parsecs"`,
		"1  KB":                 `"1  KB" is not a size: there is no unit " KB"`,
		"8388608TiB":            `size "8388608TiB" is too large`,
		"999999999999999999TiB": `size "999999999999999999TiB" is too large`,
	} {
		if _, err := ParseSize(in); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}

// TestPeerIDs: a text is read as a key only if it is the text of that key.
func TestPeerIDs(t *testing.T) {
	key, err := hex.DecodeString("1ed1e8fae2c4a144b8be8fd4b47bf3d3b34b871c3cacf6010f0e42d474fce27e")
	if err != nil {
		t.Fatal(err)
	}
	id := PeerIDOf(key)
	back, err := id.PublicKey()
	if err != nil || !bytes.Equal(back, key) {
		t.Errorf("%s is of key %x, %v", id, back, err)
	}
	for name, p := range map[string]PeerID{
		"nothing": "", "not base58": "0OIl", "an RSA key's hash": "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N",
		"long":           PeerID(strings.Repeat("1", 65)),
		"a letter short": id[:len(id)-1], "a letter more": id + "1", "another letter": id[:20] + "2" + id[21:],
	} {
		if key, err := p.PublicKey(); err == nil && PeerIDOf(key) != p {
			t.Errorf("%s: read as %x, which is %s", name, key, PeerIDOf(key))
		} else if err != nil && !strings.HasPrefix(err.Error(), "peer ID ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a key of 31 bytes has a peer ID")
		}
	}()
	PeerIDOf(key[:31])
}
