package wasi

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// ModuleName is the name guests import these functions under.
const ModuleName = "wasi_snapshot_preview1"

// A function is one offer. Params is one letter a parameter: i for i32, I for
// i64. All return an Errno but proc_exit, which returns nothing.
type function struct {
	params string
	run    func(*call) Errno
}

// offers holds the whole of preview 1.
var offers = map[string]function{
	"args_get":                {"ii", argsGet},
	"args_sizes_get":          {"ii", argsSizes},
	"environ_get":             {"ii", environGet},
	"environ_sizes_get":       {"ii", environSizes},
	"clock_res_get":           {"ii", clockRes},
	"clock_time_get":          {"iIi", clockTime},
	"fd_advise":               {"iIIi", fdAdvise},
	"fd_allocate":             {"iII", fdAllocate},
	"fd_close":                {"i", fdClose},
	"fd_datasync":             {"i", fdSync},
	"fd_fdstat_get":           {"ii", fdStatGet},
	"fd_fdstat_set_flags":     {"ii", fdSetFlags},
	"fd_fdstat_set_rights":    {"iII", fdSetRights},
	"fd_filestat_get":         {"ii", fdFilestat},
	"fd_filestat_set_size":    {"iI", fdSetSize},
	"fd_filestat_set_times":   {"iIIi", fdSetTimes},
	"fd_pread":                {"iiiIi", fdPread},
	"fd_prestat_get":          {"ii", fdPrestat},
	"fd_prestat_dir_name":     {"iii", fdPrestatName},
	"fd_pwrite":               {"iiiIi", fdPwrite},
	"fd_read":                 {"iiii", fdRead},
	"fd_readdir":              {"iiiIi", fdReaddir},
	"fd_renumber":             {"ii", fdRenumber},
	"fd_seek":                 {"iIii", fdSeek},
	"fd_sync":                 {"i", fdSync},
	"fd_tell":                 {"ii", fdTell},
	"fd_write":                {"iiii", fdWrite},
	"path_create_directory":   {"iii", pathMkdir},
	"path_filestat_get":       {"iiiii", pathStat},
	"path_filestat_set_times": {"iiiiIIi", pathSetTimes},
	"path_link":               {"iiiiiii", pathLink},
	"path_open":               {"iiiiiIIii", pathOpen},
	"path_readlink":           {"iiiiii", pathReadlink},
	"path_remove_directory":   {"iii", pathRmdir},
	"path_rename":             {"iiiiii", pathRename},
	"path_symlink":            {"iiiii", pathSymlink},
	"path_unlink_file":        {"iii", pathUnlink},
	"poll_oneoff":             {"iiii", pollOneoff},
	"proc_exit":               {"i", procExit},
	"proc_raise":              {"i", procRaise},
	"random_get":              {"ii", randomGet},
	"sched_yield":             {"", schedYield},
	"sock_accept":             {"iii", noSocket},
	"sock_recv":               {"iiiiii", noSocket},
	"sock_send":               {"iiiii", noSocket},
	"sock_shutdown":           {"ii", noSocket},
}

// Offered returns the signature of an offered function, and false for a name
// that is not offered.
func Offered(name string) (params, results []api.ValueType, ok bool) {
	f, ok := offers[name]
	if !ok {
		return nil, nil, false
	}
	params, results = signature(name, f)
	return params, results, true
}

func signature(name string, f function) (params, results []api.ValueType) {
	for _, p := range f.params {
		if p == 'I' {
			params = append(params, api.ValueTypeI64)
		} else {
			params = append(params, api.ValueTypeI32)
		}
	}
	if name != "proc_exit" {
		results = []api.ValueType{api.ValueTypeI32}
	}
	return params, results
}

// A RaisedError is a guest that raised a signal on itself.
type RaisedError struct{ Signal uint32 }

func (e *RaisedError) Error() string { return fmt.Sprintf("raised signal %d", e.Signal) }

// These two never return: wazero hands what they panic with, and a QuotaError
// likewise, to whoever called the guest.
func procExit(c *call) Errno  { panic(sys.NewExitError(c.u32(0))) }
func procRaise(c *call) Errno { panic(&RaisedError{c.u32(0)}) }

// Instantiate offers preview 1 to the modules of a runtime. Each call works on
// the State that its context carries: see With.
func Instantiate(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder(ModuleName)
	for name, f := range offers {
		params, results := signature(name, f)
		b = b.NewFunctionBuilder().WithGoModuleFunction(f, params, results).Export(name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

type stateKey struct{}

// With returns a context under which guests see s. No two guests may run on
// one State at the same time.
func With(ctx context.Context, s *State) context.Context {
	return context.WithValue(ctx, stateKey{}, s)
}

// Call runs the function for a guest. It is wazero's side of a function.
func (f function) Call(ctx context.Context, mod api.Module, stack []uint64) {
	s := ctx.Value(stateKey{}).(*State)
	errno := f.run(&call{State: s, mem: mod.Memory(), p: stack})
	if s.Over != nil {
		panic(s.Over)
	}
	if len(stack) > 0 {
		stack[0] = uint64(errno)
	}
}
