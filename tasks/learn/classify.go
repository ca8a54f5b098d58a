package learn

import (
	"regexp"
	"strings"
)

// taskRule names the task kind of prompts that match.
type taskRule struct {
	task string
	re   *regexp.Regexp
}

func taskRules() []taskRule {
	re := regexp.MustCompile
	return []taskRule{
		{"agent", re(`(?i)"tool"\s*:|\byou can call these tools\b|\btool_call|\bavailable tools\b|可以.{0,6}调用.{0,6}工具`)},
		{"rag", re(`(?im)\bdocuments below\b|\bbased on the (?:following )?(?:context|documents|passages)\b|\bnumbered documents\b|^\[\d+\]\s|根据下面的文档`)},
		{"translate", re(`(?i)\btranslat(?:e|ion)\b|\bput the text .{0,20}into plain \w+\b|翻译|译成`)},
		{"summarise", re(`(?i)\bsummar(?:y|ise|ize)\b|\btl;?dr\b|\bmain points\b|\bwrite a headline\b|\bwhat was decided\b|概括|总结|要点`)},
		{"extract", re(`(?i)\bextract\b|\breturn (?:only|one) (?:a )?json\b|\bas json\b|提取`)},
		{"classify", re(`(?i)\bclassif|\blabel the\b|\bsentiment\b|\banswer (?:yes or no|with (?:one|the))\b|分类|选一个标签`)},
		{"review", re(`(?i)\breview the (?:code|function)|\bfunction below\b|\bleast clear function\b|审查.{0,6}代码`)},
		{"code", re("(?i)```|\\bwrite (?:a|an|me a) (?:\\w+ )?(?:function|script|program|sql query|shell|regex|class)|\\b(?:python|golang|javascript|typescript|rust|sql|bash)\\b|\\bin go, write\\b|写一个(?:函数|类型|脚本)|用(?:Python|Go)写")},
		{"reasoning", re(`(?i)\bstep by step\b|\bhow many .{0,60}\bare left\b|\bsolve\b|\bprove\b|\bshortest time\b|\bwork it out\b|一步一步|推理`)},
		{"creative", re(`(?i)\b(?:write|draft|invent|compose) (?:a|an|me a) (?:short )?(?:story|poem|letter|fable|song|essay|blog)|写.{0,4}(?:故事|诗|信)`)},
		{"qa", re(`(?i)^(?:what|why|how|when|where|who|which|is|are|does|do|can|in)\b[^\n]{0,300}\?|为什么|是什么|怎么|多少`)},
	}
}

// classify names the task kind of a prompt by rules; "chat" when none fits.
func classify(rules []taskRule, prompt string) string {
	const look = 2000 // bytes: what is asked stands at the start
	head := prompt
	if len(head) > look {
		head = strings.ToValidUTF8(head[:look], "")
	}
	for _, r := range rules {
		if r.re.MatchString(head) {
			return r.task
		}
	}
	return "chat"
}
