package sandbox

// word is the private first argument that makes this program a sandbox helper.
const word = "__inferencebench_sandbox_helper"

// File descriptors of a helper: standard input, output and error, then these.
const (
	fdCalls   = 3 // lines to the harness
	fdReplies = 4 // lines from the harness
	fdSpec    = 5 // the spec, from the parent; closed before Python starts
	fdStatus  = 6 // why the set-up failed; closes on exec
)

// spec is what a helper needs to know. It travels through a pipe, never through the
// argument list or the environment.
type spec struct {
	Mode     Mode
	Python   string // the interpreter's path, the same inside
	Loader   string // its ELF loader; "" when it is static
	Trees    []string
	Links    map[string]string // symbolic links of the root, such as /lib
	Files    []string          // single files to show, such as /etc/ld.so.cache
	Args     []string
	Env      []string
	Landlock int // ABI to use; 0 for none
	CPU      uint64
	Memory   uint64
	Procs    uint64 // 0 for no limit
}
