package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A workflow is what is read of a workflow of GitHub.
type workflow struct {
	On          map[string]any
	Permissions map[string]string
	Jobs        map[string]struct {
		TimeoutMinutes int `yaml:"timeout-minutes"`
		Permissions    map[string]string
		Strategy       struct {
			Matrix map[string][]string
		}
		Steps []workflowStep
	}
}

type workflowStep struct {
	Uses, Run string
	With      map[string]string
	Env       map[string]string
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	paths, err := filepath.Glob("../.github/workflows/*")
	if err != nil || len(paths) < 2 {
		t.Fatalf("the workflows are %v: %v", paths, err)
	}
	all := map[string]workflow{}
	for _, path := range paths {
		var w workflow
		if err := yaml.Unmarshal([]byte(read(t, path)), &w); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(path)] = w
	}
	return all
}

// gitlab is every line that the pipeline of GitLab runs, and the image that it runs in.
func gitlab(t *testing.T) (lines []string, image string) {
	t.Helper()
	var jobs map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(read(t, "../.gitlab-ci.yml")), &jobs); err != nil {
		t.Fatal(err)
	}
	for name, node := range jobs {
		var job struct {
			Image        string
			Script       []string
			BeforeScript []string `yaml:"before_script"`
			AfterScript  []string `yaml:"after_script"`
			Parallel     struct {
				Matrix []map[string][]string
			}
		}
		if err := node.Decode(&job); err != nil {
			t.Fatalf(".gitlab-ci.yml: %s: %v", name, err)
		}
		if name == "default" {
			image = job.Image
		}
		for _, line := range slices.Concat(job.BeforeScript, job.Script, job.AfterScript) {
			lines = append(lines, line)
			for _, m := range job.Parallel.Matrix {
				for variable, values := range m {
					lines = append(lines, unfold(line, "$"+variable, values)...)
				}
			}
		}
	}
	return unfolded(lines), image
}

// unfold is the line once for each value of a matrix, if the line names it.
func unfold(line, variable string, values []string) []string {
	var all []string
	if strings.Contains(line, variable) {
		for _, v := range values {
			all = append(all, strings.ReplaceAll(line, variable, v))
		}
	}
	return all
}

// unfolded leaves out the lines that still name a variable of a matrix.
func unfolded(lines []string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		return strings.Contains(line, "${{ matrix.") || strings.Contains(line, "$TARGET")
	})
}

// runs are the lines that the jobs of the workflows and of the pipeline run, by where they stand.
func runs(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for name, w := range workflows(t) {
		for id, job := range w.Jobs {
			var lines []string
			for _, step := range job.Steps {
				if step.Run == "" {
					continue
				}
				for line := range strings.Lines(step.Run) {
					line = strings.TrimSpace(line)
					lines = append(lines, line)
					for variable, values := range job.Strategy.Matrix {
						lines = append(lines, unfold(line, "${{ matrix."+variable+" }}", values)...)
					}
				}
			}
			all[name+": "+id] = unfolded(lines)
		}
	}
	all[".gitlab-ci.yml"], _ = gitlab(t)
	return all
}

var (
	makeLine    = regexp.MustCompile(`^(?:sudo env "PATH=\$PATH" )?make((?: [a-z-]+| [A-Z_]+=[\w.]+)+)$`)
	installLine = regexp.MustCompile(`^sudo apt-get (?:update|install --yes --no-install-recommends(?: [a-z0-9.+-]+)+)$`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z-]*):([^=\n]*)`)
)

// targets are those of the Makefile, with what each needs.
func targets(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, m := range makeTarget.FindAllStringSubmatch(read(t, "../Makefile"), -1) {
		needs, _, _ := strings.Cut(m[2], "##")
		all[m[1]] = strings.Fields(needs)
	}
	return all
}

// made are the targets that a line makes; ok says whether it is a line that a workflow may run.
func made(line string) (names []string, ok bool) {
	m := makeLine.FindStringSubmatch(line)
	if m == nil {
		return nil, line == "bash .ci/run" || installLine.MatchString(line)
	}
	for _, word := range strings.Fields(m[1]) {
		if !strings.Contains(word, "=") {
			names = append(names, word)
		}
	}
	return names, true
}

// What fails in a workflow can be run at home by the same words.
func TestEveryStepOfAWorkflowIsATargetOfTheMakefile(t *testing.T) {
	known, count := targets(t), 0
	for where, lines := range runs(t) {
		for _, line := range lines {
			names, ok := made(line)
			if !ok {
				t.Errorf("%s runs %q, which is no target of the Makefile", where, line)
			}
			for _, name := range names {
				count++
				if _, ok := known[name]; !ok {
					t.Errorf("%s makes %s, which the Makefile does not", where, name)
				}
			}
		}
	}
	if count < 10 {
		t.Errorf("only %d targets were found", count)
	}
}

// Whatever belongs to a release is run by some workflow, so that none of it rots.
func TestTheWorkflowsRunAllOfMakeFull(t *testing.T) {
	done := map[string]bool{}
	for _, m := range regexp.MustCompile(`for step in ([a-z -]+); do`).FindAllStringSubmatch(read(t, "../.ci/run"), -1) {
		for _, step := range strings.Fields(m[1]) {
			done[step] = true
		}
	}
	if !done["test"] {
		t.Fatal(".ci/run makes no tests")
	}
	for where, lines := range runs(t) {
		if strings.HasPrefix(where, "ci.yml") {
			for _, line := range lines {
				names, _ := made(line)
				for _, name := range names {
					done[name] = true
				}
			}
		}
	}
	full := targets(t)["full"]
	if len(full) < 10 {
		t.Fatalf("make full needs %v", full)
	}
	for _, name := range full {
		if !done[name] {
			t.Errorf("no job of ci.yml makes %s, which make full does", name)
		}
	}
}

var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@(?:v\d+\.\d+\.\d+|[0-9a-f]{40})$`)

func TestActionsAndToolsArePinned(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "../go.mod"), "\ngo ")
	release, _, _ := strings.Cut(rest, "\n")
	minor := strings.Join(strings.Split(release, ".")[:2], ".")
	for name, w := range workflows(t) {
		for id, job := range w.Jobs {
			if job.TimeoutMinutes == 0 {
				t.Errorf("%s: %s has no limit of time", name, id)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s uses %q, which is no full version", name, id, step.Uses)
				}
				for key, value := range step.With {
					switch {
					case key == "go-version" && value != minor+".x":
						t.Errorf("%s: %s takes Go %s; go.mod says %s", name, id, value, release)
					case strings.HasSuffix(key, "version") && key != "go-version" && key != "node-version":
						t.Errorf("%s: %s names a version, %s: %s; the Makefile pins tools", name, id, key, value)
					}
				}
				if action, _, _ := strings.Cut(step.Uses, "@"); action == "actions/setup-go" && step.With["go-version"] == "" {
					t.Errorf("%s: %s takes whatever Go there is", name, id)
				}
			}
		}
	}
	if _, image := gitlab(t); !strings.HasPrefix(image, "golang:"+minor+"-") {
		t.Errorf(".gitlab-ci.yml runs in %q; go.mod says %s", image, release)
	}
}

// Only the job that publishes a tag may write, and no code of a pull request meets a token that could.
func TestOnlyPublishingMayWrite(t *testing.T) {
	for name, w := range workflows(t) {
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s may do %v", name, w.Permissions)
		}
		if _, ok := w.On["pull_request_target"]; ok {
			t.Errorf("%s runs the code of others with a token of ours", name)
		}
		_, pulls := w.On["pull_request"]
		for id, job := range w.Jobs {
			if len(job.Permissions) > 0 && (pulls || name != "release.yml" || id != "publish") {
				t.Errorf("%s: %s may do %v", name, id, job.Permissions)
			}
			for _, step := range job.Steps {
				if pulls && len(step.Env) > 0 {
					t.Errorf("%s: %s hands over %v", name, id, step.Env)
				}
				if action, _, _ := strings.Cut(step.Uses, "@"); action == "actions/checkout" && step.With["persist-credentials"] != "false" {
					t.Errorf("%s: %s leaves its token in the checkout", name, id)
				}
			}
		}
		if text := read(t, "../.github/workflows/"+name); strings.Contains(text, "secrets.") {
			t.Errorf("%s names a secret", name)
		}
	}
}

func TestDependabotLooksAtWhatIsThere(t *testing.T) {
	var bot struct {
		Updates []struct {
			Ecosystem string `yaml:"package-ecosystem"`
			Directory string
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "../.github/dependabot.yml")), &bot); err != nil || len(bot.Updates) == 0 {
		t.Fatalf("dependabot.yml says %+v: %v", bot, err)
	}
	for _, u := range bot.Updates {
		file, ok := map[string]string{"gomod": "go.mod", "github-actions": ".github/workflows", "docker": "Dockerfile"}[u.Ecosystem]
		if !ok {
			t.Errorf("nobody knows %s", u.Ecosystem)
			continue
		}
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(u.Directory), file)); err != nil {
			t.Errorf("%s: %v", u.Ecosystem, err)
		}
	}
}
