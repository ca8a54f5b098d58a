package sandbox

import "time"

// Mode is how code is locked in.
type Mode string

// The modes, from strongest to weakest.
const (
	ModeNamespaces Mode = "namespaces"
	ModeLandlock   Mode = "landlock"
)

// Program is one answer with its tests.
type Program struct {
	// Prelude is text that the judge runs before the test: imports and the helpers that
	// the problem defines.
	Prelude string
	// Code is the model's program, prelude included where it needs it.
	Code string
	// Test is the test. It calls the function as candidate or by its own name, in asserts
	// of its own or in a function check(candidate).
	Test string
	// Entry is the name of the function under test.
	Entry string
}

// Outcome is how one program ended.
type Outcome string

// The outcomes. Only Pass is right; Infra is not the program's fault and has no score.
const (
	Pass          Outcome = "pass"
	Wrong         Outcome = "wrong"          // an assertion of the test failed
	Exception     Outcome = "exception"      // the code raised
	Timeout       Outcome = "timeout"        // processor or wall limit passed
	Memory        Outcome = "memory"         // memory limit passed
	Crash         Outcome = "crash"          // killed by a signal, such as a segmentation fault
	Exit          Outcome = "exit"           // ended itself instead of answering
	Output        Outcome = "output"         // printed or returned too much, or wrote junk where values are read
	Syntax        Outcome = "syntax"         // does not compile
	Missing       Outcome = "no_function"    // does not define the function
	MissingModule Outcome = "missing_module" // imports what is not in the standard library
	Infra         Outcome = "infra"          // this machine could not run it
)

// Result is what became of one program.
type Result struct {
	Outcome Outcome
	// Detail is one line for a reader, control characters escaped, at most 200 bytes.
	Detail string
	// CPU is the processor time of the candidate's process, Wall the time of the whole.
	CPU, Wall time.Duration
	// Output is the start of what the code printed, control characters escaped.
	Output string
	// Retried is true when a first try was starved of the processor.
	Retried bool
}

// Limits bound one process. The zero value of a field means its default.
type Limits struct {
	CPU      time.Duration // processor time before calibration; default 3 s
	Wall     time.Duration // whole run; default 30 s
	MemoryMB int           // address space; default 512
}

// Defaults of Limits.
const (
	DefaultCPU      = 3 * time.Second
	DefaultWall     = 30 * time.Second
	DefaultMemoryMB = 512
)

const (
	fileSizeLimit  = 8 << 20
	openFilesLimit = 64
	processesLimit = 64
	stackLimit     = 8 << 20
	keepOutput     = 64 << 10
	killOutput     = 16 << 20
	maxReplyLine   = 8 << 20
	maxDetail      = 200
	workMB         = 16
	workInodes     = 256
)

func (l Limits) withDefaults() Limits {
	if l.CPU <= 0 {
		l.CPU = DefaultCPU
	}
	if l.Wall <= 0 {
		l.Wall = DefaultWall
	}
	if l.MemoryMB <= 0 {
		l.MemoryMB = DefaultMemoryMB
	}
	return l
}

// Options configure New. The zero value is usable.
type Options struct {
	// Python is the interpreter to use; "" looks for one.
	Python string
	// Mode forces a mode; "" takes the strongest that works.
	Mode Mode
	// Workers is how many programs run at once; default the number of processors.
	Workers int
	// Limits are the limits of each process.
	Limits Limits
	// UncalibratedLimits uses Limits.CPU as given instead of scaling it to the speed of
	// the machine.
	UncalibratedLimits bool
}
