package corpus

import "strings"

// The words of the made-up sessions, most frequent first in each list: a list is
// drawn from by rank. They are the plain vocabulary of programming talk.
var (
	functionWords = list(`the to a of and in is it that for with on be not this as are from by if when so we
		can but or was at only then no which an into all one what there has after before still now also each
		because its does where than any have will how more would should both without every once until same
		other while since out up over off here again already their these those why about between just even
		too rather through against under per via along`)

	nouns = list(`error test file function line path value record name session index key type call read
		request response config option flag command output input table row column query build branch commit
		change case field list map set string byte buffer block size length offset cursor page header body
		token word term match result score rank page limit budget cache store archive database transaction
		lock thread worker queue job task event hook handler callback listener message payload schema version
		migration format parser scanner lexer encoder decoder reader writer stream channel socket port host
		client server proxy gateway router route endpoint method status code timeout retry deadline clock
		timer interval window batch chunk segment slot frame packet checksum hash digest signature secret
		password user group role permission policy rule scope project workspace folder directory root tree
		node leaf edge graph walk depth parent child sibling owner member account invoice order cart price
		tax total report chart panel button label menu dialog form theme color font icon image layout grid
		style template snippet fixture snapshot golden mock stub harness benchmark profile allocation heap
		stack pointer slice array struct interface package module import dependency registry release tag
		changelog license manual page example tutorial comment docstring warning notice log trace metric
		counter gauge histogram alert dashboard region zone replica shard leader follower quorum epoch lease
		backup restore dump export import patch diff hunk conflict merge rebase remote origin fork clone
		locale currency calendar holiday zone geometry polygon tile raster mesh shader texture sprite sound
		sensor valve pump meter reading voltage battery charger firmware bootloader register interrupt`)

	verbs = list(`fix check read write add run use return call make move find open close set get load save
		parse test build pass fail keep drop skip start stop wait retry match count sort merge split join
		copy clone rename remove delete insert update replace append flush sync lock unlock commit revert
		render format print encode decode compress hash verify sign encrypt validate reject accept resolve
		expand collapse wrap trim pad align rotate scale crop filter group rank score index search scan walk
		visit mount attach detach bind listen dial send receive publish subscribe enqueue dequeue schedule
		cancel expire evict refresh rebuild reload restore migrate upgrade downgrade install deploy release
		probe measure sample throttle batch fold unfold escape quote inject extract derive project bump pin`)

	adjectives = list(`new same old wrong missing empty large small first last next whole stale broken slow
		fast nil unused open closed local remote global public private internal external shared nested flat
		raw plain signed unsigned partial full total exact strict lenient optional required default custom
		relative absolute canonical duplicate unique sorted random stable flaky hidden visible pending ready
		dirty clean hot cold warm lazy eager sparse dense shallow deep narrow wide short long early late
		concurrent sequential atomic durable volatile readonly writable executable portable vendored`)

	projectNames = list(`harbor lantern meadow quartz thimble orchard beacon tundra willow copper delta
		ember falcon granite heron island juniper kestrel lagoon marble nectar opal pebble quill raven saffron
		timber umber velvet walnut yarrow zephyr amber birch cedar drift`)

	directories = list(`internal src pkg lib cmd app web api core tests docs scripts tools server client
		store index parser render sync auth billing queue worker metrics config schema migrations`)

	agentTypes = list(`general-purpose explorer planner reviewer tester`)

	// foreign holds phrases in other scripts; spaces are part of them.
	foreign = []string{
		"проверь, пожалуйста, ещё раз", "ошибка всё ещё появляется", "почему тест падает", "спасибо, работает",
		"добавь запись в журнал", "поиск по архиву", "請再檢查一次", "这个测试为什么失败", "把配置改回去", "搜索结果不对",
		"缓存没有更新", "テストが失敗しました", "設定ファイルを読み込む", "もう一度確認してください", "인덱스를 다시 만들어 주세요",
		"bitte prüfe die Größe noch einmal", "où est passé le fichier généré ?", "así está mejor, ¿no?", "şimdi çalışıyor",
		"🚀", "✅", "⚠️", "🤔 hm", "👍🏽", "🎉 done", "naïve café", "→ next", "½ of it", "ﬁnal",
	}
)

func list(s string) []string { return strings.Fields(s) }

// Sentence patterns. A slot stands in braces: n noun, v verb, a adjective,
// i identifier, p path, f call, d number, h short hash, w function word,
// c command.
var (
	sentencePatterns = []string{
		"The {n} in `{p}` does not {v} the {a} {n} when `{i}` is {a}.",
		"`{f}` returns the {a} {n}, so the {n} never reaches `{i}`.",
		"I'll {v} the {n} first and then {v} `{i}`.",
		"Next I {v} {p} and {v} how `{i}` handles a {a} {n}.",
		"There are {d} places that {v} a {n}; only {d} of them {v} the {n} afterwards.",
		"That explains the {a} {n}: `{i}` keeps the {n} of the {a} {n}.",
		"Line {d} of {p} has to {v} before the {n} is {a}.",
		"Now the {n} and the {n} agree, and the {a} {n} is gone.",
		"Without a {n} the {n} would {v} every {a} {n} again.",
		"We should {v} the {n} only once, since `{f}` already {v}s it.",
		"The {n} takes {d} ms of {d} ms, most of it in `{i}`.",
		"Both {n}s share one {n}, which is why the {a} {n} shows up twice.",
		"I left the {a} {n} alone, because {p} still {v}s it.",
		"After the {n} at {h} the {n} was {a} for {d} {n}s.",
		"What remains is the {n}: {w} it is {a}, {w} it must {v}.",
		"All {d} tests pass, {w} the {n} for the {a} {n} is new.",
		"`{i}` and `{i}` {v} the same {n} {w} different {n}s.",
		"A {a} {n} {w} a {a} {n} now gives one {n} instead of {d}.",
	}
	promptPatterns = []string{
		"{v} the {n} in {p}", "why does {i} {v} the {a} {n}?", "please {v} the {n} so that the {n} is {a}",
		"the {n} {w} {n} is {a} again, can you {v} it", "add a test {w} the {a} {n} in {p}", "ok, {v} it",
		"now {v} `{i}` {w} the {n}, and {v} the {n} {w} it", "continue", "what does {f} do {w} a {a} {n}?",
		"rename {i} to {i}", "{w} about the {a} {n}? it should {v} the {n}", "run the tests",
		"the {n} says {d}, I expected {d}. {v} the {n} first", "commit this", "look at {p}:{d}, the {n} there is {a}",
	}
	commandPatterns = []string{
		"go test ./{p}/... -run {i} -count 1", "git status --short", "git diff --stat {h}..HEAD", "make {n}",
		"rg -n '{i}' {p}", "ls -la {p}", "sed -n '{d},{d}p' {p}", "npm run {v}:{n} -- --{n}={d}", "cat {p} | head -{d}",
		"python3 scripts/{v}_{n}.py --{n} {d}", "git log --oneline -{d} -- {p}", "curl -s localhost:{d}/{n}/{h} | jq .{n}",
		"cargo {v} --package {n} && cargo test {i}", "find . -name '*{n}*' -newer {p}", "cd {p} && {v} --{a} {n}",
	}
	errorPatterns = []string{
		"error: cannot {v} the {n} `{i}` in {p}:{d}:{d}", "panic: {a} {n}: {i} is {d}, want {d}",
		"{i}Error: {n} {h} is {a}", "FAIL: {i} ({d}.{d}s)", "{p}:{d}: undefined {n} {i}",
		"fatal: {n} '{p}' does not {v}", "warning: {a} {n} in {p}:{d} [{i}]", "timeout: {n} did not {v} within {d} ms",
		"    at {f} ({p}:{d}:{d})", "    at {f} ({p}:{d}:{d})", "expected {d} {n}s, found {d}", "exit status {d}",
	}
	logPatterns = []string{
		"2026-03-{d} INFO  {i} {v} {n}={d} {n}={h}", "2026-03-{d} WARN  {i} {a} {n} {p} took {d}ms",
		"ok   {p}  {d}.{d}s", "=== RUN   {i}/{a}_{n}", "--- PASS: {i}/{a}_{n} (0.{d}s)", "{h} {v} the {a} {n}",
		"{p}:{d}:\tif err := {f}; err != nil {", "drwxr-xr-x {d} dev dev {d} {n}", "-rw-r--r-- 1 dev dev {d} {p}",
		" {p} | {d} ++++++----", "{\"{n}\":\"{h}\",\"{n}\":{d},\"{i}\":\"{a} {n}\"}", "[{d}/{d}] {v} {p}",
	}
	codePatterns = []string{
		"func ({n} *{i}) {i}({n} {i}) error {", "if {i} := {f}; {i} != nil {", "return fmt.Errorf(\"{v} {n}: %w\", err)",
		"for _, {n} := range {i} {", "{n}.{i} = {f}", "// {i} {v}s the {a} {n} of {w} {n}.", "}", "}", "}", "",
		"const {i} = {d} // {a} {n}", "{i}, err := {f}", "defer {n}.{i}()", "switch {n}.{i} {", "case {i}:", "",
		"{n} = append({n}, {i}{{n}: {d}, {v}: \"{n}\"})", "return {n}.{i}({n}, {d})", "type {i} struct {", "\t{i} {i} `json:\"{n}\"`",
		"log.Printf(\"{n} %d: {a}\", {i})", "var {i} = map[string]{i}{", "\"{n}\": {f},", "if len({n}) > {d} {",
	}
)
