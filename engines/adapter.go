package engines

// Adapter is what is known of one kind of server. Adapters are shared and must not be
// changed.
type Adapter struct {
	// Name identifies the adapter, such as "vllm"; Title is for people.
	Name  string `yaml:"name"`
	Title string `yaml:"title"`
	// Simulated is set for servers that only imitate inference.
	Simulated bool `yaml:"simulated"`
	// Tier is how much the server shows: "full" (queue, cache and latency metrics),
	// "partial" or "black_box" (responses only).
	Tier string `yaml:"tier"`
	// Like names an adapter whose signals, settings, knobs and log patterns hold here too
	// where this one has none of its own.
	Like string `yaml:"like"`
	// About says which releases the facts were taken from.
	About string `yaml:"about"`

	Detect  Detect  `yaml:"detect"`
	Ready   Ready   `yaml:"ready"`
	Metrics Metrics `yaml:"metrics"`
	// RankLabels number the ranks of one engine that report the same thing. Only the
	// lowest value of each is read.
	RankLabels []string `yaml:"rank_labels"`
	// Sources maps a canonical signal to its candidates, best first.
	Sources map[string][]Candidate `yaml:"signals"`
	// Absent lists canonical signals that the server is known not to expose.
	Absent []string `yaml:"absent"`
	// Settings are the effective settings that the server tells.
	Settings []Setting `yaml:"settings"`
	// Endpoints are the routes worth knowing of.
	Endpoints []Endpoint `yaml:"endpoints"`
	Launch    Launch     `yaml:"launch"`
	// Knobs are the launch settings that matter to performance.
	Knobs  []Knob       `yaml:"knobs"`
	Quirks Quirks       `yaml:"quirks"`
	Logs   []LogPattern `yaml:"logs"`
	Trace  Trace        `yaml:"trace"`
	// Advice is what to switch on so that the server shows more, in order of worth.
	Advice []Advice `yaml:"advice"`
}

// Detect holds the marks by which a server is recognised. Every mark that is seen adds its
// weight; the adapter with the most wins, and one with none is not the server.
type Detect struct {
	// Marks are what to look for.
	Marks []Mark `yaml:"marks"`
	// ConfusedWith names servers that look alike.
	ConfusedWith []string `yaml:"confused_with"`
	Note         string   `yaml:"note"`
}

// Mark is one thing that a server shows. All conditions that are set must hold.
type Mark struct {
	// Path is what was fetched with GET, such as "/version".
	Path string `yaml:"path"`
	// Status is the expected status code; 0 means 200.
	Status int `yaml:"status"`
	// Keys are JSON keys that the answer must have, dots going down; an element of an
	// array is taken from its first entry.
	Keys []string `yaml:"keys"`
	// Key and Value ask for a JSON key with this text.
	Key   string `yaml:"key"`
	Value string `yaml:"value"`
	// Text must be in the body.
	Text string `yaml:"text"`
	// Header and HeaderText ask for a response header with this text in it.
	Header     string `yaml:"header"`
	HeaderText string `yaml:"header_text"`
	// Prefix is the start of a metric name on the page at Path.
	Prefix string `yaml:"prefix"`
	// Label must be on some sample of the page whose name starts with Prefix.
	Label string `yaml:"label"`
	// Weight is what the mark is worth; it may be negative.
	Weight int `yaml:"weight"`
}

// Ready says how to tell that the server can take requests.
type Ready struct {
	Path string `yaml:"path"` // answers 200 when ready
	Note string `yaml:"note"`
}

// Metrics says where the metrics page is.
type Metrics struct {
	// Paths are tried in order.
	Paths []string `yaml:"paths"`
	// Format is "prometheus", "json" or "none".
	Format string `yaml:"format"`
	// Switch is the flag that turns the page on; "" when it is on by default.
	Switch string `yaml:"switch"`
	Note   string `yaml:"note"`
}

// Candidate is one place where a signal may be found.
type Candidate struct {
	// Metric is the name on the metrics page. For a counter, a name with and one without
	// _total are the same.
	Metric string `yaml:"metric"`
	// Type is how the metric is read: "gauge", "counter", "histogram", "sum" (the number
	// is a total of what the canonical histogram observes), "label" (the number is the
	// value of Labels[0]) or "label_product" (the product of the values of Labels), or
	// "ratio" (Metric divided by Over) or "product" (Metric times Over).
	Type   string   `yaml:"type"`
	Labels []string `yaml:"labels"`
	Over   string   `yaml:"over"`
	// Where keeps only samples with these label values.
	Where map[string]string `yaml:"where"`
	// Drop leaves out samples with these label values: sub-totals that would be counted twice.
	Drop map[string]string `yaml:"drop"`
	// By breaks the number down by the values of this label, beside the total.
	By string `yaml:"by"`
	// Agg joins the series of several engines: "sum", "max" or "mean"; "" is sum.
	Agg string `yaml:"agg"`
	// Scale multiplies the number to reach the canonical unit; 0 means 1.
	Scale float64 `yaml:"scale"`
	// BucketsOnly is set when the histogram's sum and count do not belong to its buckets.
	BucketsOnly bool `yaml:"buckets_only"`
	// Since, Until and Needs say in which versions, and under which flag, it is there.
	Since string `yaml:"since"`
	Until string `yaml:"until"`
	Needs string `yaml:"needs"`
	Note  string `yaml:"note"`
}

// Setting is an effective setting that a running server tells, by one of three ways: a JSON
// key of a route, a label of an info metric, or the value of a metric. Only settings listed are ever read, so
// that a secret in the same document stays there.
type Setting struct {
	Name   string `yaml:"name"`
	Path   string `yaml:"path"`
	Key    string `yaml:"key"`
	Metric string `yaml:"metric"`
	Label  string `yaml:"label"`
	Value  bool   `yaml:"value"`
}

// Endpoint is a route of the server.
type Endpoint struct {
	Path   string `yaml:"path"`
	Method string `yaml:"method"`
	// Needs is the flag or variable that enables it; "" when it is on by default.
	Needs string `yaml:"needs"`
	Use   string `yaml:"use"`
}

// Launch says how the server is started.
type Launch struct {
	// Argv is the command with {model}, {host} and {port} to fill in.
	Argv []string `yaml:"argv"`
	Port int      `yaml:"port"` // default port; 0 when there is none to rely on
	// Env are variables worth setting, name to meaning.
	Env  map[string]string `yaml:"env"`
	Note string            `yaml:"note"`
	// Off is how a switch is switched off: "" by its flag with --no- before the name, or
	// OffAbsent by leaving the flag out.
	Off string `yaml:"off"`
}

// OffAbsent is a Launch.Off.
const OffAbsent = "absent"

// Trace says how the server exports request spans.
type Trace struct {
	Flag string `yaml:"flag"` // "" when it exports none
	Span string `yaml:"span"` // the span that stands for one request
	Note string `yaml:"note"`
}

// Advice is one thing to switch on, and what is seen then.
type Advice struct {
	// Missing is the canonical signal that advice is for.
	Missing string `yaml:"missing"`
	Do      string `yaml:"do"`
}
