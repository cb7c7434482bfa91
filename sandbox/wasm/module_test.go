package wasm

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestIndexSpaces: imports come first, and those of other kinds do not count.
func TestIndexSpaces(t *testing.T) {
	m := specimen()
	for kind, want := range map[ExternKind]int{FuncKind: 1, TableKind: 1, MemoryKind: 1, GlobalKind: 1, tagKind: 0} {
		if got := m.Imported(kind); got != want {
			t.Errorf("imports of kind %d: got %d, want %d", kind, got, want)
		}
	}
	if got, want := m.FuncTypeIndices(), []uint32{1, 0, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("functions: got %v, want %v", got, want)
	}
	if got, want := m.GlobalTypes(), []GlobalType{{I64, true}, {I32, false}, {V128, true}}; !reflect.DeepEqual(got,
		want) {
		t.Errorf("globals: got %v, want %v", got, want)
	}
	if got, want := m.TableTypes(), []TableType{{FuncRef, Limits{1, 300, true}},
		{ExternRef, Limits{}}}; !reflect.DeepEqual(got, want) {
		t.Errorf("tables: got %v, want %v", got, want)
	}
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		typ  ValType
		name string
		size uint32
		ref  bool
	}{
		{I32, "i32", 4, false}, {I64, "i64", 8, false}, {F32, "f32", 4, false}, {F64, "f64", 8, false},
		{V128, "v128", 16, false},
		{FuncRef, "funcref", 0, true}, {ExternRef, "externref", 0, true}, {0x40, "type(0x40)", 0, false},
	} {
		if c.typ.String() != c.name || c.typ.Size() != c.size || c.typ.IsRef() != c.ref {
			t.Errorf("got %v, %d, %v, want %v", c.typ, c.typ.Size(), c.typ.IsRef(), c)
		}
	}
	a := FuncType{Params: []ValType{I32, F32}, Results: []ValType{I64}}
	for _, c := range []struct {
		b     FuncType
		equal bool
	}{
		{FuncType{[]ValType{I32, F32}, []ValType{I64}}, true}, {FuncType{[]ValType{F32, I32}, []ValType{I64}}, false},
		{FuncType{[]ValType{I32, F32, I64}, nil}, false}, {FuncType{[]ValType{I32, F32}, nil}, false},
		{FuncType{}, false},
	} {
		if a.Equal(c.b) != c.equal {
			t.Errorf("%v equal to %v: want %v", a, c.b, c.equal)
		}
	}
	if !(FuncType{}).Equal(FuncType{Params: []ValType{}}) {
		t.Error("nil and no parameters differ")
	}
}

// TestFunctionNames: a name section gives a function's name, and a damaged or
// hostile one gives none, or a short one.
func TestFunctionNames(t *testing.T) {
	long := strings.Repeat("x", nameLimit+1)
	longNames := append([]byte{1, 0}, AppendUnsigned(nil, uint64(len(long)))...)
	longNames = append(longNames, long...)
	for name, c := range map[string]struct {
		customs []Custom
		index   int
		want    string
	}{
		"no section":                 {nil, 0, ""},
		"another section":            {[]Custom{{"producers", []byte("\x01\x04\x01\x00\x01f")}}, 0, ""},
		"named":                      {[]Custom{{"name", []byte("\x01\x04\x01\x00\x01f")}}, 0, "f"},
		"another index":              {[]Custom{{"name", []byte("\x01\x04\x01\x00\x01f")}}, 1, ""},
		"the second":                 {[]Custom{{"name", []byte("\x01\x07\x02\x00\x01f\x05\x01g")}}, 5, "g"},
		"behind the module's name":   {[]Custom{{"name", []byte("\x00\x02\x01m\x01\x04\x01\x00\x01f")}}, 0, "f"},
		"in the second section":      {[]Custom{{"name", nil}, {"name", []byte("\x01\x04\x01\x00\x01f")}}, 0, "f"},
		"cut in the size":            {[]Custom{{"name", []byte("\x01")}}, 0, ""},
		"shorter than its size":      {[]Custom{{"name", []byte("\x01\x09\x01\x00\x01f")}}, 0, ""},
		"a count that is false":      {[]Custom{{"name", []byte("\x01\x04\x7f\x00\x01f")}}, 0, ""},
		"a name that is cut":         {[]Custom{{"name", []byte("\x01\x04\x01\x00\x09f")}}, 0, ""},
		"a name that is not UTF-8":   {[]Custom{{"name", []byte("\x01\x04\x01\x00\x01\xff")}}, 0, ""},
		"behind one that is damaged": {[]Custom{{"name", []byte("\x01\x07\x02\x00\x01\xff\x05\x01g")}}, 5, ""},
		"too long": {[]Custom{{"name", appendSized([]byte{1}, longNames)}}, 0,
			long[:nameLimit] + "..."},
	} {
		if got := (&Module{Customs: c.customs}).FuncName(c.index); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestErrorsNameTheirPlace: an error in a body names the function, counted with
// the imports, and its name if it has one.
func TestErrorsNameTheirPlace(t *testing.T) {
	m := specimen()
	m.Code[0].Body = []byte{0x27, 0x0b}
	again, err := Decode(Encode(m))
	if err != nil {
		t.Fatal(err)
	}
	var in Instr
	err = again.InFunc(NewReader(&again.Code[0]).Next(&in), 1)
	want := fmt.Sprintf("wasm: function 1 (f), offset %#x: opcode(0x27) is not known", again.Code[0].Offset)
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	err = again.InFunc(NewReader(&Code{Body: []byte{0x27}}).Next(&in), 2)
	if got, want := err.Error(), "wasm: function 2, offset 0x0: opcode(0x27) is not known"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := again.InFunc(nil, 3); err != nil {
		t.Errorf("no error became %v", err)
	}
}
