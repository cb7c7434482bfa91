package node

import (
	"reflect"

	"godwit/task"
)

// printTexts makes every text that v leads to, which was decoded, Printable: another node
// wrote it, and people will read it, here or by way of the API.
func printTexts(v any) { printValue(reflect.ValueOf(v)) }

func printValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			printValue(v.Elem())
		}
	case reflect.String:
		if s := v.String(); v.CanSet() {
			v.SetString(task.Printable(s, len(s)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			printValue(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			printValue(v.Index(i))
		}
	case reflect.Map:
		printMap(v)
	}
}

// printMap makes the texts of a map printable, its keys too.
func printMap(v reflect.Value) {
	for _, key := range v.MapKeys() {
		k, x := reflect.New(key.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.Set(key)
		x.Set(v.MapIndex(key))
		printValue(k)
		printValue(x)
		v.SetMapIndex(key, reflect.Value{})
		v.SetMapIndex(k, x)
	}
}
