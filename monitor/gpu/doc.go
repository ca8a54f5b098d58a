// Package gpu reads GPUs from what others expose: the pages of the DCGM exporter and of
// AMD's exporters, and the tables that nvidia-smi and amd-smi print. It also settles which
// of a machine's GPUs a server uses, and adds readings up without inventing what is missing.
//
// Names of values are those of package monitor, in the same units, so that a reader need
// not know where a reading came from. Profiling fields that only exporters have are
// engine_active_percent (graphics or compute engine), sm_active_percent,
// sm_occupancy_percent, tensor_active_percent and dram_active_percent.
//
// A field that a GPU does not tell is absent from its reading. Utilisation of a GPU that is
// cut into MIG instances is such a field: the driver prints 0 or nothing for it.
package gpu
