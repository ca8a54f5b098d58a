package cost

import "strings"

// Price is what an instance costs on demand.
type Price struct {
	SKU     string // such as "p5.48xlarge"
	Cloud   string
	GPU     string // name of the device table of package roofline
	GPUs    int
	USDHour float64
	AsOf    string
	Source  string
}

// PerGPU returns dollars per GPU and hour.
func (p Price) PerGPU() float64 { return p.USDHour / float64(p.GPUs) }

// Second returns dollars a second.
func (p Price) Second() float64 { return p.USDHour / 3600 }

// Prices returns on-demand prices for Linux. They are dated data: show AsOf beside every
// figure made from them.
func Prices() []Price {
	const as, aws, azure, gcp = "2026-11", "public AWS rate tables", "public Azure catalogue, undated snapshot", "public Google Cloud rate tables"
	return []Price{
		{"g4dn.xlarge", "aws", "T4", 1, 0.526, as, aws}, {"g4dn.12xlarge", "aws", "T4", 4, 3.912, as, aws},
		{"g5.xlarge", "aws", "A10G", 1, 1.006, as, aws}, {"g5.12xlarge", "aws", "A10G", 4, 5.672, as, aws}, {"g5.48xlarge", "aws", "A10G", 8, 16.288, as, aws},
		{"g6.xlarge", "aws", "L4", 1, 0.8048, as, aws}, {"g6.12xlarge", "aws", "L4", 4, 4.6016, as, aws}, {"g6.48xlarge", "aws", "L4", 8, 13.3504, as, aws},
		{"g6e.xlarge", "aws", "L40S", 1, 1.861, as, aws},
		{"p4d.24xlarge", "aws", "A100-40 SXM", 8, 21.957642, as, aws}, {"p4de.24xlarge", "aws", "A100-80 SXM", 8, 27.44705, as, aws},
		{"p5.4xlarge", "aws", "H100 SXM", 1, 6.88, as, aws}, {"p5.48xlarge", "aws", "H100 SXM", 8, 55.04, as, aws},
		{"p5en.48xlarge", "aws", "H200 SXM", 8, 63.296, as, aws}, {"p6-b200.48xlarge", "aws", "B200 SXM", 8, 113.9328, as, aws},
		{"NC4as_T4_v3", "azure", "T4", 1, 0.526, as, azure}, {"NC24ads_A100_v4", "azure", "A100-80 PCIe", 1, 3.673, as, azure},
		{"NC96ads_A100_v4", "azure", "A100-80 PCIe", 4, 14.692, as, azure}, {"ND96asr_v4", "azure", "A100-40 SXM", 8, 27.197, as, azure},
		{"ND96amsr_A100_v4", "azure", "A100-80 SXM", 8, 32.77, as, azure}, {"NC40ads_H100_v5", "azure", "H100 NVL", 1, 6.98, as, azure}, {"ND96isr_H100_v5", "azure", "H100 SXM", 8, 98.32, as, azure},
		{"a2-highgpu-1g", "gcp", "A100-40 SXM", 1, 3.673385, as, gcp}, {"a2-ultragpu-1g", "gcp", "A100-80 SXM", 1, 5.068798, as, gcp},
		{"a3-highgpu-1g", "gcp", "H100 SXM", 1, 11.0612, as, gcp}, {"a3-highgpu-8g", "gcp", "H100 SXM", 8, 88.49, as, gcp}, {"a3-ultragpu-8g", "gcp", "H200 SXM", 8, 84.807, as, gcp},
	}
}

// FindPrice returns the price of an instance type; case does not matter.
func FindPrice(sku string) (Price, bool) {
	for _, p := range Prices() {
		if strings.EqualFold(p.SKU, sku) {
			return p, true
		}
	}
	return Price{}, false
}
