package prose

// chinese is the Chinese grammar.
var chinese = grammar{
	fields: chineseFields,
	stop:   "",
	names: []string{
		"林晓", "周正", "吴敏", "郑凯", "孙萍", "高远", "何静", "马超群", "罗兰", "唐宁", "冯雪", "曹磊", "彭慧", "董明", "袁野", "蒋薇",
	},
	days:   []string{"周一", "周二", "周三", "周四", "周五", "周六", "周日"},
	months: []string{"一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月"},
	adjs:   []string{"细致", "迟来", "罕见", "稳妥", "棘手", "普通", "昂贵", "简单", "陈旧", "临时", "意外", "可靠"},
	sentences: []string{
		"{day}那天，{role}在{place}{verb}了{num}件{things}，原因是{problem}。",
		"{name}从{year}年起就是{role}，他说{measure}很少超过{num}{unit}。",
		"每当{problem}，{remedy}，到{clock}时{things}就都准备好了。",
		"{place}的{things}已经有{small}周没人{verb}，所以{measure}不太可信。",
		"比较{adj}的是，{measure}在{small}天之内从{num}{unit}升到了{big}{unit}。",
		"{month}，{role}请{name}把{things}重新清点一遍，总数是{big}。",
		"到{clock}为止，{measure}是{dec}{unit}，比计划低了百分之{pct}。",
		"只要{measure}不超过{num}{unit}，{role}就可以把{things}留在{place}过夜。",
		"{name}在日志里写道：{problem}，{day}两次，{day}又一次。",
		"{remedy}，因为{name}发现{problem}。",
		"一共用了{small}个人和{num}分钟，才把{role}{verb}过的{things}搬走。",
		"{year}年{month}有一份{adj}的报告提到{problem}，却没有给出{measure}的数字。",
		"在{role}到来之前，{name}已经把{place}的{things}{verb}完了。",
		"要降低{measure}，办法有{small}种，其中最{adj}的是少用一些{things}。",
		"虽然{remedy}，{measure}也只下降了百分之{pct}。",
		"{month}的计划里有{num}件{things}、{small}个备件，还有一次{adj}的走访。",
		"{name}喜欢每{small}小时看一次{measure}，而{role}只看每天的平均值。",
		"去年{verb}过的{big}件{things}里，有{num}件收到了意见。",
		"会议在{day}结束，只定了一件事：{measure}一旦超过{num}{unit}，{remedy}。",
		"平常一周{name}要看{num}件{things}，忙的时候接近{big}件。",
		"{name}把{year}年和{year}年放在一起比较，发现{measure}翻了一番。",
		"{role}和{name}对原因看法不同：一个说{problem}，另一个认为是天气{adj}。",
	},
}

var chineseFields = []field{
	{
		name: "社区图书馆的日常运营", roles: []string{"馆长", "借阅员", "编目员", "志愿者", "采购员"},
		things: []string{"旧期刊", "儿童绘本", "借书卡", "地方志", "还书箱", "阅览桌"}, verbs: []string{"整理", "登记", "修补", "搬运", "盘点"},
		places: []string{"二楼阅览室", "地下书库", "门口服务台", "东侧书架", "自习区"}, problems: []string{"空调漏水", "系统把编号弄重了", "雨天读者突然增多", "扫描枪没有电", "捐书比预计多一倍"},
		remedies: []string{"志愿者临时加了一班", "书库改为预约取书", "旧桌子先搬到走廊", "编号改由人工核对"}, measures: []string{"借阅量", "排队时间", "书库湿度", "座位使用率"}, units: []string{"册", "分钟", "度", "个百分点"},
	},
	{
		name: "茶园的采收与制茶", roles: []string{"茶农", "制茶师傅", "质检员", "采茶工", "仓库管理员"},
		things: []string{"鲜叶", "竹筛", "茶样", "烘干机", "包装袋", "茶苗"}, verbs: []string{"采摘", "晾晒", "炒制", "称重", "分级"},
		places: []string{"南坡茶园", "晾青房", "老作坊", "山脚仓库", "溪边地块"}, problems: []string{"清明前下了一场霜", "烘干机温度偏高", "采茶工人手不够", "雾气一直不散", "样品标签贴错了"},
		remedies: []string{"师傅把火候降了一档", "鲜叶先摊在凉处", "邻村派来一队帮手", "样品重新编号"}, measures: []string{"含水率", "鲜叶产量", "锅温", "烘干时间"}, units: []string{"个百分点", "斤", "度", "小时"},
	},
	{
		name: "城市地铁的夜间检修", roles: []string{"检修工", "调度员", "信号工程师", "安全员", "值班站长"},
		things: []string{"道岔", "轨枕", "屏蔽门", "信号继电器", "接触网部件", "巡检记录"}, verbs: []string{"检查", "更换", "测量", "清洁", "调整"},
		places: []string{"三号线隧道", "车辆段", "换乘站台", "牵引变电所", "区间泵房"}, problems: []string{"继电器反复掉电", "末班车晚点", "隧道渗水", "对讲机信号不好", "备件型号对不上"},
		remedies: []string{"夜班换上了备用继电器", "首班车推迟十分钟", "调度员改用备用通道", "水泵加开一台"}, measures: []string{"平均晚点", "故障次数", "轨温", "检修时长"}, units: []string{"分钟", "次", "度", "小时"},
	},
	{
		name: "一家小型软件公司的值班", roles: []string{"值班工程师", "数据库管理员", "测试员", "客服", "发布经理"},
		things: []string{"错误日志", "备份任务", "消息队列", "缓存节点", "访问令牌", "测试用例"}, verbs: []string{"重启", "回滚", "排查", "迁移", "归档"},
		places: []string{"预发环境", "主库", "华东机房", "旧构建机", "网关后面"}, problems: []string{"证书在半夜过期", "从库延迟了一小时", "重试把队列塞满", "磁盘写满", "两个小组改了同一个开关"},
		remedies: []string{"版本先回滚", "流量切到第二机房", "队列改由人工清空", "打开只读模式"}, measures: []string{"错误率", "尾延迟", "队列长度", "告警次数"}, units: []string{"个百分点", "毫秒", "条", "次"},
	},
	{
		name: "县城医院的门诊安排", roles: []string{"护士长", "挂号员", "内科医生", "药剂师", "导诊员"},
		things: []string{"病历", "检验单", "输液泵", "候诊号", "药品箱", "床位"}, verbs: []string{"核对", "登记", "调配", "复查", "转交"},
		places: []string{"门诊二楼", "药房窗口", "急诊大厅", "检验科", "住院部"}, problems: []string{"挂号系统变慢", "检验结果迟到", "两位医生同时请假", "流感季提前到来", "电梯停运"},
		remedies: []string{"轻症改到下午", "药房多开一个窗口", "护士长重新排班", "检验单改用纸质"}, measures: []string{"候诊时间", "门诊量", "空床数", "平均住院日"}, units: []string{"分钟", "人次", "张", "天"},
	},
	{
		name: "海边渔港的管理", roles: []string{"港务员", "船长", "拍卖师", "制冰工", "渔网修补工"},
		things: []string{"鱼筐", "缆绳", "冰块", "油桶", "浮标", "救生衣"}, verbs: []string{"过秤", "卸下", "清洗", "修补", "清点"},
		places: []string{"北码头", "拍卖厅后面", "防波堤边", "吊机下面", "内港"}, problems: []string{"制冰机停了", "大雾封港", "油泵漏油", "磅秤偏了两公斤", "潮位计卡住了"},
		remedies: []string{"船队改进内港", "拍卖挪到晚上", "借来一台水泵", "旧磅秤先用着"}, measures: []string{"水温", "上岸鱼获", "风速", "鱼价"}, units: []string{"度", "吨", "节", "元"},
	},
}
