// Package nvml reads NVIDIA GPUs through the driver's own library, NVML.
//
// The library is opened while the program runs, and only in builds with cgo on Linux;
// elsewhere, and on a machine without a driver, [Open] finds nothing and says why in one
// line. Calling a function that an older driver lacks would end the process, so each is
// looked up before its first use.
//
// The rest of the package knows a GPU only as a [Device], so that tests script one and a
// simulator can stand in for one.
package nvml
