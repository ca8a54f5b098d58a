// Package sandbox runs Python that a model wrote, and decides whether it passes tests,
// without letting it near the machine.
//
// One answer is judged by two processes that exchange plain values:
//
//	judge      holds the tests; calls a stub            (trusted text, sandboxed all the same)
//	candidate  holds the model's code; answers calls    (hostile)
//
// The parent relays their lines. It believes a verdict only from the judge, and takes
// only returned values and exceptions from the candidate. The candidate never sees the
// tests and cannot write where the verdict is read, so printed success markers, early
// exits and objects that equal everything get it nowhere.
//
// Each process is this program started again ([MaybeInit] must be the first statement of
// main), which locks itself in and then becomes Python. There are two ways to lock in:
//
//	namespaces  user, pid, net, mount, ipc and uts namespaces; a read-only root that
//	            holds the interpreter and nothing else; a small tmpfs to work in;
//	            Landlock where the kernel has it; seccomp; resource limits
//	landlock    where namespaces are refused, as in most containers: Landlock without a
//	            single writable folder, seccomp, resource limits, an own user when root
//
// With neither, [New] gives an error and nothing is ever run: resource limits alone let
// code read the user's files and open connections.
//
// Processor time decides what is too slow, not the wall clock: the limit grows with a
// calibration on the machine at hand, and a run that was starved of the processor is
// repeated alone before it is called an infrastructure fault, never a wrong answer.
package sandbox
