package redact

import "bytes"

// A shape is what the tokens of one provider look like: a prefix, and a run of
// bytes of some classes behind it. The run is taken as a whole with its prefix.
type shape struct {
	prefixes []string
	fold     bool // prefixes are lower case and match in any
	mark     string
	classes  uint16 // of the bytes behind the prefix
	least    int    // how many there must be
	most     int    // and may be; 0: any number
	keep     bool   // the prefix stays
	rule     int    // 0: ruleProvider
	fits     func(run []byte) bool
}

// The gates of shapes whose prefix is not telling enough.
func mixed(run []byte) bool    { return all(run, isDigit, isLower, isUpper) }
func numbered(run []byte) bool { return all(run, isDigit, isLetter) }
func upper(run []byte) bool    { return mix(run)&isLower == 0 }
func hexes(run []byte) bool {
	for _, c := range run {
		if _, ok := hex([]byte{c}, 1); !ok {
			return false
		}
	}
	return mix(run)&isDigit != 0
}
func dotted(run []byte) bool { return bytes.IndexByte(run, '.') > 0 && all(run, isDigit, isLetter) }

func mark(kind string) string { return "[redacted:" + kind + "]" }

// shapes are looked at in this order where prefixes are alike.
var shapes = []shape{
	{prefixes: []string{"eyJ"}, mark: markJWT, classes: isName, least: 9, rule: ruleJWT},
	{
		prefixes: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
		mark:     markGitHub, classes: isWord, least: 6, rule: ruleGitHub,
	},
	{
		prefixes: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, mark: mark("an-aws-access-key"),
		classes: isAlnum, least: 16, most: 16, fits: upper,
	},
	{prefixes: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"}, mark: mark("a-gitlab-token"), classes: isName, least: 16},
	{
		prefixes: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xapp-"},
		mark:     mark("a-slack-token"), classes: isName | isPlus, least: 10, fits: numbered,
	},
	{prefixes: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}, mark: mark("a-stripe-key"), classes: isWord | isPlus, least: 16},
	{prefixes: []string{"sk-ant-"}, mark: mark("an-anthropic-key"), classes: isWord, least: 16, fits: numbered},
	{prefixes: []string{"sk-or-v1-"}, mark: mark("an-openrouter-key"), classes: isWord, least: 16, fits: numbered},
	{prefixes: []string{"sk-"}, mark: mark("an-openai-key"), classes: isWord, least: 20, fits: mixed},
	{prefixes: []string{"gsk_"}, mark: mark("a-groq-key"), classes: isAlnum, least: 20, fits: numbered},
	{prefixes: []string{"xai-"}, mark: mark("an-xai-key"), classes: isAlnum, least: 20, fits: numbered},
	{prefixes: []string{"hf_"}, mark: mark("a-huggingface-token"), classes: isAlnum, least: 30, fits: mixed},
	{prefixes: []string{"npm_"}, mark: mark("an-npm-token"), classes: isAlnum, least: 30, fits: numbered},
	{prefixes: []string{"pypi-AgE"}, mark: mark("a-pypi-token"), classes: isWord, least: 16},
	{prefixes: []string{"rubygems_"}, mark: mark("a-rubygems-key"), classes: isAlnum, least: 40, fits: hexes},
	{prefixes: []string{"AIza"}, mark: mark("a-google-api-key"), classes: isWord, least: 30, fits: numbered},
	{prefixes: []string{"GOCSPX-"}, mark: mark("a-google-client-secret"), classes: isWord, least: 20},
	{prefixes: []string{"ya29."}, mark: mark("a-google-access-token"), classes: isName, least: 20, fits: numbered},
	{prefixes: []string{"SG."}, mark: mark("a-sendgrid-key"), classes: isName, least: 40, fits: dotted},
	{prefixes: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, mark: mark("a-digitalocean-token"), classes: isAlnum, least: 40, fits: hexes},
	{prefixes: []string{"shpat_", "shpca_", "shppa_", "shpss_"}, mark: mark("a-shopify-token"), classes: isAlnum, least: 32, fits: hexes},
	{prefixes: []string{"sq0atp-", "sq0csp-"}, mark: mark("a-square-token"), classes: isWord, least: 20},
	{prefixes: []string{"hvs.", "hvb.", "hvr."}, mark: mark("a-vault-token"), classes: isWord, least: 20, fits: numbered},
	{prefixes: []string{"dckr_pat_", "dckr_oat_"}, mark: mark("a-docker-token"), classes: isWord, least: 20},
	{prefixes: []string{"lin_api_", "lin_oauth_"}, mark: mark("a-linear-key"), classes: isAlnum, least: 20},
	{prefixes: []string{"ntn_"}, mark: mark("a-notion-token"), classes: isAlnum, least: 30, fits: numbered},
	{prefixes: []string{"figd_"}, mark: mark("a-figma-token"), classes: isWord, least: 20},
	{prefixes: []string{"PMAK-"}, mark: mark("a-postman-key"), classes: isWord, least: 20},
	{prefixes: []string{"glsa_", "glc_"}, mark: mark("a-grafana-token"), classes: isWord | isPlus, least: 20, fits: numbered},
	{prefixes: []string{"sntrys_", "sntryu_"}, mark: mark("a-sentry-token"), classes: isWord | isPlus, least: 20},
	{prefixes: []string{"NRAK-", "NRJS-"}, mark: mark("a-new-relic-key"), classes: isAlnum, least: 19},
	{prefixes: []string{"pplx-"}, mark: mark("a-perplexity-key"), classes: isAlnum, least: 30, fits: numbered},
	{prefixes: []string{"r8_"}, mark: mark("a-replicate-token"), classes: isAlnum, least: 30, fits: numbered},
	{prefixes: []string{"tskey-"}, mark: mark("a-tailscale-key"), classes: isWord, least: 16, fits: numbered},
	{prefixes: []string{"sbp_", "sb_secret_"}, mark: mark("a-supabase-key"), classes: isWord, least: 20, fits: numbered},
	{prefixes: []string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, mark: mark("a-planetscale-token"), classes: isName, least: 20},
	{prefixes: []string{"ATATT3", "ATCTT3"}, mark: mark("an-atlassian-token"), classes: isWord | isPlus, least: 30},
	{prefixes: []string{"CCIPAT_"}, mark: mark("a-circleci-token"), classes: isWord, least: 20},
	{prefixes: []string{"FlyV1 "}, mark: mark("a-fly-token"), classes: isWord | isPlus | isDot, least: 20},
	{prefixes: []string{"age-secret-key-1"}, fold: true, mark: mark("an-age-key"), classes: isAlnum, least: 40},
	{prefixes: []string{"dapi"}, mark: mark("a-databricks-token"), classes: isAlnum, least: 32, most: 32, fits: hexes},
	{prefixes: []string{"secret_"}, mark: mark("a-notion-token"), classes: isAlnum, least: 40, fits: mixed},
	{prefixes: []string{"key-"}, mark: mark("a-mailgun-key"), classes: isAlnum, least: 32, most: 32, fits: hexes},
	{prefixes: []string{"EAACEdEose0cBA"}, mark: mark("a-facebook-token"), classes: isAlnum, least: 10},

	{prefixes: []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"}, mark: markWebhook, classes: urlPath, least: 8, keep: true},
	{prefixes: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"}, mark: markWebhook, classes: urlPath, least: 8, keep: true},
	{prefixes: []string{"hooks.zapier.com/hooks/catch/", "maker.ifttt.com/trigger/"}, mark: markWebhook, classes: urlPath, least: 8, keep: true},
	{prefixes: []string{"webhook.office.com/webhookb2/", "outlook.office.com/webhook/"}, mark: markWebhook, classes: urlPath, least: 8, keep: true},
	{prefixes: []string{"chat.googleapis.com/v1/spaces/"}, mark: markWebhook, classes: urlPath, least: 8, keep: true},
	{prefixes: []string{"api.telegram.org/bot"}, mark: markWebhook, classes: urlPath, least: 20, keep: true},
}

const (
	markWebhook = "[redacted:a-webhook-url]"
	urlPath     = isName | isPlus | isMark
)

// provider takes out the token whose prefix stands at at.
func (s *scanner) provider(at int, l *literal) int {
	sh, from := l.shape, at+len(l.text)
	before := isWord | sh.classes&isDot
	if sh.keep {
		before = isAlnum | isDash
	}
	if s.is(at-1, before) || at < s.none[l.kind] {
		return at
	}
	end := s.over(from, sh.classes)
	run := s.b[from:end]
	if len(run) < sh.least || sh.most > 0 && len(run) > sh.most || sh.fits != nil && !sh.fits(run) {
		s.none[l.kind] = end // nor does any end of the run fit
		return at
	}
	start, rule := at, ruleProvider
	if sh.keep {
		start = from
	}
	if sh.rule > 0 {
		rule = sh.rule
	}
	s.take(start, end, sh.mark, rule)
	return end
}

const (
	markTelegram = "[redacted:a-telegram-token]"
	// A Telegram bot's token is its number, a colon and 35 characters.
	minBot, maxBot, botSecret = 8, 10, 35
)

// telegram takes out the bot token whose colon stands at at.
func (s *scanner) telegram(at int, _ *literal) int {
	lo := s.back(at, max(0, at-maxBot-1), isDigit)
	end := at + 1
	for end < min(len(s.b), at+botSecret+2) && s.is(end, isWord) {
		end++
	}
	if n := at - lo; n < minBot || n > maxBot || s.is(lo-1, isWord) || end-at-1 != botSecret {
		return at
	}
	s.take(lo, end, markTelegram, ruleProvider)
	return end
}
