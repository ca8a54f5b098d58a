package tasks

import (
	"slices"

	"github.com/inferencebench/inferencebench/tasks/prose"
)

// kind is a task kind: how its first turn is asked, and over what material.
type kind struct {
	name  string
	about string
	// asks are instructions by language; each fits with or without material after it.
	asks map[prose.Lang][]string
	// material is what the instruction works on; the article when it is empty.
	material []prose.Block
	// needs is set when the instruction makes no sense without some material.
	needs bool
	// parts splits the material into numbered documents of about so many tokens.
	parts int
	// head stands before the material, such as the tools of an agent.
	head map[prose.Lang]string
}

// Kinds lists the names of all task kinds in alphabetical order.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	slices.Sort(names)
	return names
}

func lookupKind(name string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &kinds[i]
}

type words = map[prose.Lang][]string

var kinds = []kind{
	{
		name: "qa", about: "a question with an explanation for an answer",
		asks: words{
			prose.English: {
				"In {topic}, why would {measure} change when {problem}? Give the two most likely reasons.",
				"What should a {role} check first when {problem}?",
				"How many {things} can {small} people have {verb} by {clock} if each takes {small} minutes? Show how you get there.",
				"I am new to {topic}. What does {measure} tell me, and when is {num} {unit} too much?",
				"Is it normal that {problem} more than {small} times in {month}? What would you compare it with?",
			},
			prose.Chinese: {
				"在{topic}中，如果{problem}，{measure}为什么会变化？请给出两个最可能的原因。",
				"当{problem}时，{role}应该先检查什么？",
				"我刚接触{topic}，{measure}说明了什么？{num}{unit}算高吗？",
				"{small}个人每件用{small}分钟，到{clock}能{verb}多少件{things}？请写出算法。",
			},
		},
	},
	{
		name: "chat", about: "everyday conversation and advice",
		asks: words{
			prose.English: {
				"Hi! I help out with {topic} and today {problem}. How would you explain that to {name}, who has never seen it?",
				"I have to tell the {role} that the {things} are not ready. How do I say it kindly?",
				"My week: {problem}, then {remedy}. Was that the right call, or did I just get lucky?",
				"Could you help me plan next {day}? There are {num} {things} to be {verb} and only {small} of us.",
				"{name} thinks {measure} does not matter. I do. Help me argue for it without being rude.",
			},
			prose.Chinese: {
				"你好！我在帮忙做{topic}，今天{problem}。怎么跟完全没经验的{name}解释？",
				"我得告诉{role}，{things}还没准备好，怎么说比较委婉？",
				"{day}有{num}件{things}要{verb}，只有{small}个人，帮我安排一下吧。",
				"{name}觉得{measure}不重要，我不同意，帮我想几条有礼貌的理由。",
			},
		},
	},
	{
		name: "summarise", about: "a text in, its main points out", needs: true,
		material: []prose.Block{prose.Article, prose.Sections, prose.Transcript, prose.Log},
		asks: words{
			prose.English: {
				"Summarise the following in {small} sentences for someone who was away on {day}.",
				"Give me the main points of the text below as a short list, with every figure that matters.",
				"Write a headline and one paragraph about what happened here.",
				"What was decided, what is still open, and who has to act? Use only the text below.",
			},
			prose.Chinese: {"请用{small}句话概括下面的内容。", "列出下文的要点，保留所有重要数字。", "下文做了什么决定？还有什么没有解决？谁要行动？"},
		},
	},
	{
		name: "creative", about: "stories, letters and other free writing",
		asks: words{
			prose.English: {
				"Write a short story in which a {role} finds out, at {clock}, that {problem}. End it with a question.",
				"Draft a letter from {name} to a {role} about {num} {things} that never arrived. Dry humour, please.",
				"Write a poem of {small} verses about {topic}, with no rhyme, and mention {measure} once.",
				"Invent a fable with two animals that shows why {remedy}.",
			},
			prose.Chinese: {"写一个小故事：{role}在{clock}发现{problem}，结尾要留一个问题。", "以{name}的名义给{role}写一封信，说{num}件{things}一直没到，语气幽默些。", "写一首{small}节的短诗，主题是{topic}。"},
		},
	},
	{
		name: "code", about: "programs from a description", material: []prose.Block{prose.Code},
		asks: words{
			prose.English: {
				"Write a Python function that reads lines such as \"{name},{num},{clock}\" and returns {measure} per day, skipping lines that do not parse. Include three tests.",
				"In Go, write a type that keeps the last {num} readings of {measure} and gives their median in less than linear time per reading.",
				"Write an SQL query that lists each {role} with the number of {things} that were {verb} in {month}, most first.",
				"Write a shell one-liner that finds files older than {small} days, larger than {num} kB, and prints their total size. Then explain each part.",
			},
			prose.Chinese: {"用Python写一个函数，读取“{name},{num},{clock}”这样的行，按天汇总{measure}，跳过无法解析的行，并给出三个测试。", "用Go写一个类型，保存最近{num}个{measure}读数并给出中位数。"},
		},
	},
	{
		name: "review", about: "finding faults in given code", needs: true, material: []prose.Block{prose.Code},
		asks: words{
			prose.English: {
				"Review the code below. List real bugs first, each with the input that shows it, then style.",
				"One function below can panic and another leaks. Find them and give the smallest fix.",
				"Rewrite the least clear function below and say what you changed.",
			},
			prose.Chinese: {"请审查下面的代码，先列出真正的错误并给出触发它的输入，再谈风格。", "下面有一个函数会崩溃，找出来并给出最小的修改。"},
		},
	},
	{
		name: "translate", about: "a text into another language", needs: true, material: []prose.Block{prose.Article, prose.Emoji, prose.Transcript},
		asks: words{
			prose.English: {
				"Translate the text below into French. Keep names and figures as they are.",
				"Translate the following into Chinese, in the tone of a notice on a wall.",
				"Put the text below into plain German for a reader of twelve.",
			},
			prose.Chinese: {"把下面的内容译成英文，人名和数字保持原样。", "请把下文翻译成日语，语气正式。"},
		},
	},
	{
		name: "extract", about: "fields out of free text as JSON", needs: true, material: []prose.Block{prose.Article, prose.Log, prose.Table, prose.Records, prose.Spaced},
		asks: words{
			prose.English: {
				"From the material below, return only a JSON array of objects with the keys \"person\", \"item\", \"count\" and \"day\"; use null for what is not said.",
				"Extract every time of day and what happened then, as JSON objects {\"time\", \"event\"}. No other text.",
				"Return one JSON object that maps each person named below to the largest figure given with that name.",
			},
			prose.Chinese: {"从下面的材料中提取 person、item、count、day 四个字段，只返回 JSON 数组，没有的填 null。", "提取所有时间和对应的事件，返回 JSON，不要其他文字。"},
		},
	},
	{
		name: "classify", about: "one label out of a few", needs: true, material: []prose.Block{prose.Reviews, prose.Article, prose.Emoji},
		asks: words{
			prose.English: {
				"Label the text below with exactly one of: complaint, praise, question, report. Answer with the label alone.",
				"On a scale of 1 to 5, how urgent is the following? Answer with one digit.",
				"Does the text below mention a safety problem? Answer yes or no.",
			},
			prose.Chinese: {"给下面的文字选一个标签：投诉、表扬、提问、汇报。只回答标签。", "下文的紧急程度是1到5中的几？只回答一个数字。"},
		},
	},
	{
		name: "rag", about: "answers from numbered documents", needs: true, parts: 400, material: []prose.Block{prose.Article, prose.Sections, prose.Table},
		asks: words{
			prose.English: {
				"Answer from the documents below only, and cite them as [1], [2]: what is said about {measure}, and do the documents agree?",
				"Using only the numbered documents, explain what happened when {problem}. If none of them says so, say that.",
				"Which document gives the largest number of {things}? Quote the sentence and its number.",
			},
			prose.Chinese: {"只根据下面的文档回答，并用[1]、[2]标注出处：关于{measure}说了什么？各文档是否一致？", "哪一份文档提到的{things}最多？引用原句。"},
		},
	},
	{
		name: "agent", about: "a goal with tools to call", needs: true, material: []prose.Block{prose.Records, prose.Log, prose.Table},
		head: map[prose.Lang]string{
			prose.English: "You can call these tools, one a turn, by answering with a JSON object and nothing else:\n" +
				`- {"tool":"search","query":"..."} finds entries by words` + "\n" +
				`- {"tool":"read","id":0} returns one entry in full` + "\n" +
				`- {"tool":"update","id":0,"count":0} changes a count` + "\n" +
				`- {"tool":"answer","text":"..."} ends the task` + "\n",
			prose.Chinese: "你可以每轮调用一个工具，只回答一个 JSON 对象：\n" +
				`- {"tool":"search","query":"..."} 按词查找` + "\n" +
				`- {"tool":"read","id":0} 读取一条记录` + "\n" +
				`- {"tool":"update","id":0,"count":0} 修改数量` + "\n" +
				`- {"tool":"answer","text":"..."} 结束任务` + "\n",
		},
		asks: words{
			prose.English: {
				"Goal: find every entry in which {name} had more than {num} {things} and bring the count down to {small}. The present state follows.",
				"Goal: find out why {measure} passed {num} {unit} on {day}, then answer with the cause. The present state follows.",
			},
			prose.Chinese: {"目标：找出{name}负责且{things}超过{num}件的记录，把数量改为{small}。当前状态如下。", "目标：查明{day}{measure}为什么超过{num}{unit}，然后回答原因。当前状态如下。"},
		},
	},
	{
		name: "reasoning", about: "maths and puzzles worked out step by step", material: []prose.Block{prose.Article, prose.Formulas},
		asks: words{
			prose.English: {
				"{name} has {num} {things}. On {day} {pct} percent are {verb}, and of the rest {small} are lost each hour from {clock} on. How many are left after {small} hours? Think step by step.",
				"Three people, {name}, {name} and {name}, each take {small} to {num} minutes for one of the {things}. What is the shortest time for {num} of them, and what do you assume?",
				"{measure} doubles every {small} days and starts at {dec} {unit}. When does it pass {big}? Work it out without logarithm tables.",
			},
			prose.Chinese: {"{name}有{num}件{things}，{day}{verb}了百分之{pct}，剩下的每小时损失{small}件，{small}小时后还剩多少？请一步一步推理。", "{measure}每{small}天翻一番，起始是{dec}{unit}，什么时候超过{big}？请写出过程。"},
		},
	},
}
