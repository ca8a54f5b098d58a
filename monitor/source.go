package monitor

import (
	"context"
	"net/http"

	"github.com/inferencebench/inferencebench/archive"
	"github.com/inferencebench/inferencebench/engines"
	"github.com/inferencebench/inferencebench/monitor/host"
	"github.com/inferencebench/inferencebench/monitor/nvml"
	"github.com/inferencebench/inferencebench/monitor/prom"
	"github.com/inferencebench/inferencebench/monitor/self"
)

// Source is one thing to read. The monitor calls Read from one goroutine at a time, never
// while an earlier call is still going on.
type Source interface {
	// Kind is one of archive.SourceEngine, SourceGPU, SourceHost and SourceClient.
	Kind() string
	// Target says which of its kind it is, such as a metrics URL without credentials or a
	// GPU's UUID; "" when there is only one.
	Target() string
	// Read takes one reading. It should return soon after ctx is done. The map is the
	// caller's to keep. A value that is not known is absent from it.
	Read(ctx context.Context) (map[string]float64, error)
}

// several is a Source that reads several targets at once, such as all GPUs of a machine.
// The monitor then calls ReadEach in place of Read, and makes a sample of each.
type several interface {
	ReadEach(ctx context.Context) (map[string]map[string]float64, error)
}

// annotated is a Source that has something to say about what it read. The monitor turns
// each code into one event.
type annotated interface {
	// Annotations returns what the last Read found odd.
	Annotations() []archive.Annotation
}

// NewEngine reads the metrics page at url with the adapter's names. header goes with each
// request and is where a key belongs; neither it nor a password in url is ever shown.
func NewEngine(client *http.Client, url string, header http.Header, a *engines.Adapter) Source {
	return prom.New(client, url, header, a)
}

// NewHost reads this machine: processor, memory, network.
func NewHost() Source { return host.New() }

// ClientCounters are the load generator's own numbers at one moment.
type ClientCounters = self.Counters

// NewClient reads this process. counters may be nil; it is called once a reading and must
// be quick and safe for concurrent use.
func NewClient(counters func() ClientCounters) Source { return self.New(counters) }

// OpenGPUs finds the NVIDIA GPUs of this machine: a source for each, and what they are. On
// a machine without a driver, or in a build without cgo, both are empty and note says why
// in one line. The library stays open for the life of the process.
func OpenGPUs() (sources []Source, gpus []archive.GPU, note string) {
	found, note := nvml.Open()
	for _, g := range found {
		sources = append(sources, g)
		gpus = append(gpus, g.GPU())
	}
	return sources, gpus, note
}

// DescribeHost says what this machine is, as far as it can be told.
func DescribeHost() archive.Host { return host.Describe() }
