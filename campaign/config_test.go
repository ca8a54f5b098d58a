package campaign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferencebench/inferencebench/campaign"
)

func load(path string) (*campaign.Config, error) {
	f, err := campaign.Load(path, campaign.Default())
	if err != nil {
		return nil, err
	}
	f.Config.Resolve()
	return f.Config, f.Locate(f.Config.Validate())
}

func TestGoodFiles(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.good.yaml")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, path := range files {
		if _, err := load(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestBadFiles loads one file a rule. Its first lines say what the message must hold.
func TestBadFiles(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.bad.yaml")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = load(path)
		if err == nil {
			t.Errorf("%s: loaded without an error", path)
			continue
		}
		wants := 0
		for line := range strings.Lines(string(b)) {
			want, ok := strings.CutPrefix(strings.TrimSpace(line), "# want: ")
			if !ok {
				continue
			}
			wants++
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s:\n got %v\nwant %s", path, err, want)
			}
		}
		if wants == 0 {
			t.Errorf("%s: says no '# want: '", path)
		}
	}
}

func TestFileOverDefaults(t *testing.T) {
	c, err := load("testdata/full.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Phases) != 2 || c.Phases[0].Warmup.Requests != 10 || c.Phases[1].Warmup.Duration != 5*time.Second {
		t.Errorf("phases = %+v", c.Phases)
	}
	if c.Target.KeyEnv != campaign.DefaultKeyEnv || time.Duration(c.Target.Timeouts.Connect) != 10*time.Second {
		t.Errorf("a field that the file leaves out lost its default: %+v", c.Target)
	}
	if c.Workload.Temperature == nil || *c.Workload.Temperature != 0 {
		t.Errorf("temperature = %v; want a known 0", c.Workload.Temperature)
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, path := range files {
		if b, err := os.ReadFile(path); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<14 {
			t.Skip("longer than a campaign")
		}
		file, err := campaign.Parse("fuzz.yaml", b, campaign.Default())
		if err != nil {
			return
		}
		file.Config.Resolve()
		if err := file.Locate(file.Config.Validate()); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// A field in the wrong place is told where it belongs, and not corrected to itself.
func TestMisplacedFieldsAreToldTheirPlace(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"of a list, at the top", "concurrency: 4\n", `"concurrency" does not belong here; it is a field of scenario, phases`},
		{"of the top, in a group", "target:\n  seed: 1\n", `"seed" does not belong here; it is a field of`},
		{"of nowhere, misspelt", "phasess: []\n", `did you mean "phases"`},
	} {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(row.in), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := load(path); err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v; want one line with %q", row.name, err, row.want)
		}
	}
}
