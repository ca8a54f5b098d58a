package archive

import (
	"encoding/json"
	"time"
)

// SchemaVersion is the version of the run directory's format.
const SchemaVersion = 1

// State is whether a run came to its end.
type State string

// The states. A run that was killed is left Running on disk; [Open] reports it as
// Interrupted.
const (
	StateRunning     State = "running"
	StateComplete    State = "complete"
	StateInterrupted State = "interrupted"
)

// Manifest says what ran. It is written when the run starts and once more when it ends.
type Manifest struct {
	Schema int    `json:"schema"`
	ID     string `json:"id"`
	Name   string `json:"name"`
	Tool   Tool   `json:"tool"`
	State  State  `json:"state"`
	// Reason says in one sentence why a run was interrupted.
	Reason string `json:"reason,omitempty"`

	// Epoch is the wall-clock time of Instant 0: the one anchor between the run's clock
	// and the calendar.
	Epoch time.Time `json:"epoch"`
	// Started and Ended bound the run; Ended is unknown until it is over.
	Started Instant `json:"started"`
	Ended   Instant `json:"ended"`

	// Seed makes every random choice of the run reproducible.
	Seed uint64 `json:"seed"`
	// Config is the campaign as resolved, defaults included, secrets redacted.
	Config json.RawMessage `json:"config"`
	// Simulated is set when the server only imitates inference.
	Simulated bool `json:"simulated"`
	// Embedded is set when the server is the simulated engine inside this program, which
	// then shares its processor time with the load generator.
	Embedded bool `json:"embedded,omitempty"`

	// WorkloadSHA256 is the content hash of the frozen workload: two runs with the same
	// hash sent the same conversations.
	WorkloadSHA256 string `json:"workload_sha256,omitempty"`

	Server Server `json:"server"`
	Host   Host   `json:"host"`
	GPUs   []GPU  `json:"gpus,omitempty"`

	// Files counts the records of each file when the run ended.
	Files map[string]int64 `json:"files,omitempty"`
	// Notes are one-line facts about the set-up, such as "no /health".
	Notes []Annotation `json:"notes,omitempty"`
}

// Tool is the program that made the run.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// Server is the system under test as it showed itself.
type Server struct {
	URL        string `json:"url"`             // base URL, credentials removed
	Engine     string `json:"engine"`          // adapter name, such as "vllm"; "unknown" when not recognised
	Version    string `json:"version"`         // "" when it does not say
	Model      string `json:"model"`           // the model name sent in requests
	MetricsURL string `json:"metrics_url"`     // "" when there is none
	Proxy      string `json:"proxy,omitempty"` // the proxy in use, credentials removed
	// MaxModelLen is the context limit, in tokens, where the server tells it.
	MaxModelLen Opt[int] `json:"max_model_len"`
	// Settings are the effective engine settings that the server exposes.
	Settings map[string]string `json:"settings,omitempty"`
}

// Host is the machine that ran the load.
type Host struct {
	OS       string `json:"os"`
	Kernel   string `json:"kernel"`
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	MemoryMB int64  `json:"memory_mb"`
}

// GPU is one accelerator that the monitor saw.
type GPU struct {
	Index    int          `json:"index"`
	UUID     string       `json:"uuid"`
	Name     string       `json:"name"`
	MemoryMB int64        `json:"memory_mb"`
	PowerW   Opt[float64] `json:"power_limit_w"`
	Driver   string       `json:"driver"`
}
