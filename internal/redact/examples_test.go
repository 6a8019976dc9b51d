package redact

import "strings"

// The examples are made up. A dot in the middle (·) parts prefixes that tools
// for finding secrets know, and is taken out before use. Between « and » stands
// what is taken out.

// An example is a text with a secret, and the marker that takes its place.
type example struct{ mark, text string }

func (e example) in() string {
	return strings.NewReplacer("·", "", "«", "", "»", "").Replace(e.text)
}

func (e example) want() string {
	var b strings.Builder
	rest := strings.ReplaceAll(e.text, "·", "")
	for {
		before, secret, ok := strings.Cut(rest, "«")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		_, rest, _ = strings.Cut(secret, "»")
		b.WriteString(e.mark)
	}
}

// secrets are what is taken out of e.
func (e example) secrets() (all []string) {
	rest := strings.ReplaceAll(e.text, "·", "")
	for {
		_, secret, ok := strings.Cut(rest, "«")
		if !ok {
			return all
		}
		secret, rest, _ = strings.Cut(secret, "»")
		all = append(all, secret)
	}
}

var positives = []example{
	// Private keys.
	{markPEM, "«-----BEGIN RSA PRIVATE KEY-----\nRVhBTVBMRSBrZXkgbWF0ZXJpYWw\nRVhBTVBMRQ==\n-----END RSA PRIVATE KEY-----»\nafter"},
	{markPEM, "«-----BEGIN PRIVATE KEY-----\nRVhBTVBMRQ==\n-----END PRIVATE KEY-----»"},
	{markPEM, "«-----BEGIN OPENSSH PRIVATE KEY-----\r\nRVhBTVBMRQ\r\n-----END OPENSSH PRIVATE KEY-----»\r\nafter"},
	{markPEM, "id: 7\n  «-----BEGIN EC PRIVATE KEY-----\n  RVhBTVBMRQ\n  -----END EC PRIVATE KEY-----»\n"},
	{markPEM, "cut short «-----BEGIN ENCRYPTED PRIVATE KEY-----\nRVhBTVBMRQ\nRVhBTVBM»"},
	{markPEM, "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBEXAMPLE\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----» ok"},
	{markPEM, "«-----BEGIN RSA PRIVATE KEY-----\nRVhB»"},
	{markPEM, "two «-----BEGIN PRIVATE KEY-----\nQQ\n-----END PRIVATE KEY-----» and «-----BEGIN PRIVATE KEY-----\nQg\n-----END PRIVATE KEY-----»."},
	// Addresses with credentials.
	{markUserinfo, "postgres://«app:EXAMPLEhunter2»@db.example.com:5432/app"},
	{markUserinfo, "git clone https://«x-access:EXAMPLEvalue»@git.example.com/a/b.git"},
	{markUserinfo, "mongodb+srv://«root:EXAMPLE%40pw»@cluster.example.net/test?retry=1"},
	{markUserinfo, "redis://«:EXAMPLEpw»@localhost:6379/0"},
	{markUserinfo, "amqp://«guest:EXAMPLEguest»@mq and http://«a:b»@c"},
	{markUserinfo, "mysql://«me:EXAMPLE@inside»@db/x"},
	{markUserinfo, "ssh://«git»@git.example.com/repo"},
	{markUserinfo, "(ftp://«joe:EXAMPLE1»@files.example.org)"},
	// Headers.
	{markPlain, "Authorization: «Bearer EXAMPLE.abc-123»"},
	{markPlain, "authorization: «Basic RVhBTVBMRTpwdw==»\r\nHost: x"},
	{markPlain, "curl -H 'Authorization: «token EXAMPLE123»' https://api.example.com"},
	{markPlain, "X-Api-Key: «EXAMPLE-123»\nAccept: */*"},
	{markPlain, "x-auth-token: «EXAMPLE/abc»"},
	{markPlain, "password: «EXAMPLEhunter2»"},
	{markPlain, "api_key: \"«EXAMPLE with blanks»\""},
	{markPlain, "client_secret: '«EXAMPLE'»"[:len("client_secret: '«EXAMPLE")] + "»'"},
	{markPlain, "Proxy-Authorization: «NTLM EXAMPLEblob»"},
	{markPlain, "Authorization: «Digest username=\"me\", realm=\"r\", response=\"EXAMPLE0123\"»\nnext"},
	{markPlain, "Authorization: «AWS4-HMAC-SHA256 Credential=EXAMPLE/20260101/us-east-1/s3/aws4_request, Signature=EXAMPLEfe01»"},
	{markPlain, "spring.datasource.password: «EXAMPLEpw»"},
	{markPlain, "  secretAccessKey: «EXAMPLE+/abc»\n  region: x"},
	// Cookies.
	{markPlain, "Cookie: «sid=EXAMPLE1; theme=dark; csrf=EXAMPLE2»\nHost: x"},
	{markPlain, "Set-Cookie: «session=EXAMPLE; Path=/; HttpOnly»"},
	{markPlain, "curl -H \"Cookie: «a=EXAMPLE1; b=EXAMPLE2»\" https://x.example.com"},
	{markPlain, "-H 'cookie: «a=EXAMPLE; b=\"quoted EXAMPLE\"; c=1»' next"},
	// Pairs.
	{markPlain, `{"password":"«EXAMPLEhunter2»","user":"me"}`},
	{markPlain, `{"api_key" : "«EXAMPLE»", "n": 1}`},
	{markPlain, `{"Access Token": "«EXAMPLE token»"}`},
	{markPlain, `{'client_secret': '«EXAMPLE1»'}`},
	{markPlain, `"secret" => "«EXAMPLEruby»",`},
	{markPlain, `os.environ["API_TOKEN"] = "«EXAMPLEpy»"`},
	{markPlain, `{"authorization":"«Bearer EXAMPLE»"}`},
	{markPlain, `[{"name":"DB_PASSWORD","value":"«EXAMPLEk8s»"}]`},
	{markPlain, "{\n  \"privateKey\":\n    \"«EXAMPLE»\"\n}"},
	{markPlain, `<password>«EXAMPLExml»</password>`},
	{markPlain, `<apiKey>«EXAMPLE-xml-2»</apiKey> <port>80</port>`},
	// Assignments.
	{markPlain, "export GITHUB_TOKEN=«EXAMPLEvalue»"},
	{markPlain, "PASSWORD=«\"EXAMPLE with blanks\"» make"},
	{markPlain, "SECRET_KEY=«'EXAMPLE1'»;"},
	{markPlain, "https://example.com/x?api_key=«EXAMPLE&page=2»"},
	{markPlain, "AWS_SECRET_ACCESS_KEY=«EXAMPLE/abc+def=»"},
	{markPlain, "--token=«EXAMPLEvalue» --verbose"},
	{markPlain, "Server=db;User Id=sa;Password=«EXAMPLE1;Encrypt=true»"},
	{markPlain, "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«EXAMPLEabc==»"},
	{markPlain, "host=localhost user=app password=«EXAMPLEpg» dbname=app"},
	{markPlain, "PGPASSWORD=«EXAMPLE1» psql -h db"},
	{markPlain, "Pwd=«EXAMPLE1;x»"},
	{markPlain, "//registry.npmjs.org/:_authToken=«EXAMPLEnpm»"},
	{markPlain, "db.api.secret=«EXAMPLE»\r\nnext=1"},
	{markPlain, "SECRET=«\"never closed EXAMPLE\nnext line»"},
	// Spaced assignments.
	{markPlain, "aws_secret_access_key = «EXAMPLEwJalr0123456789/abcdEXAMPLEKEY»"},
	{markPlain, "const apiKey = \"«EXAMPLE0123456789abcdef»\";"},
	{markPlain, "token := \"«EXAMPLE12345»\""},
	{markPlain, "password = «EXAMPLEhunter2»"},
	{markPlain, "db_password = \"«EXAMPLEword»\""},
	{markPlain, "client_secret => '«EXAMPLE99abc»'"},
	{markPlain, "auth_token : «EXAMPLE0123456789abcdefXYZ»"},
	{markPlain, "let accessToken: string = 1; refreshToken = '«EXAMPLErefresh1»'"}, // the type stays
	// Flags.
	{markFlag, "cli --api-key «EXAMPLEvalue» --out x"},
	{markFlag, "cli --password '«EXAMPLE with blank»' next"},
	{markFlag, "tool -token «EXAMPLE1»"},
	{markFlag, "vault login --secret-id-token \"«EXAMPLE»\""},
	{markFlag, "gh auth --with-token\t«EXAMPLE2»"},
	{markFlag, `["--password", "«EXAMPLEargv»"]`},
	// Programs.
	{markFlag, "sshpass -p «EXAMPLEpw1» ssh host"},
	{markFlag, "sshpass -p«EXAMPLEpw1» ssh host"},
	{markFlag, "mysql -u root -p«EXAMPLEpw» -h db app"},
	{markFlag, "mysqldump -h db -p«EXAMPLEpw2» app | gzip"},
	{markFlag, "sudo /usr/bin/mysql -p'«EXAMPLE pw»' app"},
	{markFlag, "curl -u me:«EXAMPLEpw» https://x.example.com"},
	{markFlag, "curl -sS --user 'me:«EXAMPLE1»' https://x"},
	{markFlag, "curl --user=me:«EXAMPLE2» https://x"},
	{markFlag, "curl -ume:«EXAMPLE3» https://x"},
	{markFlag, "redis-cli -h cache -a «EXAMPLEpw» ping"},
	{markFlag, "docker login -u me -p «EXAMPLEpw» registry.example.com"},
	{markFlag, "mongosh -u admin -p «EXAMPLE» --host x"},
	{markFlag, "ldapsearch -x -D cn=admin -w «EXAMPLEpw» -b dc=x"},
	{markFlag, "unzip -P «EXAMPLE1» a.zip"},
	{markFlag, "openssl rsa -in k.pem -passin pass:«EXAMPLE1»"},
	{markFlag, "smbclient //srv/share -U me%«EXAMPLE1»"},
	{markFlag, "mysql -u root \\\n  -p«EXAMPLEpw» app"},
	// netrc.
	{markPlain, "machine git.example.com login me password «EXAMPLEpw»"},
	{markPlain, "machine git.example.com\n  login me\n  password «EXAMPLEpw1»\n"},
	// Tokens by their shape.
	{markJWT, "got «ey·JhbGciOiJFWEFNUExFIn0.ey·JzdWIiOiJFWEFNUExFIn0.EXAMPLEsig» back"},
	{markGitHub, "remote: «gh·p_EXAMPLEexample0123456789abcdef»"},
	{markGitHub, "«git·hub_pat_EXAMPLE_0123456789»"},
	{markGitHub, "use «gh·s_EXAMPLE123», then push"},
	{mark("an-aws-access-key"), "id «AK·IAEXAMPLEEXAMPLE01» in us-east-1"},
	{mark("an-aws-access-key"), "«AS·IAEXAMPLE012345678»"},
	{mark("a-gitlab-token"), "glab «gl·pat-EXAMPLE-0123456789»"},
	{mark("a-slack-token"), "bot «xo·xb-0000-EXAMPLE-0000»"},
	{mark("a-slack-token"), "app «xa·pp-1-EXAMPLE-0000-abc»"},
	{mark("a-stripe-key"), "charge with «sk·_test_EXAMPLEEXAMPLE0123»"},
	{mark("a-stripe-key"), "«rk·_live_EXAMPLEEXAMPLE0123» restricted"},
	{mark("an-anthropic-key"), "«sk·-ant-EXAMPLE03-abcdefghijkl»"},
	{mark("an-openai-key"), "«sk·-proj-EXAMPLEexample0123456789»"},
	{mark("an-openrouter-key"), "«sk·-or-v1-0123456789EXAMPLEabcdef»"},
	{mark("a-groq-key"), "«gs·k_EXAMPLEexample0123456789»"},
	{mark("an-xai-key"), "«xa·i-EXAMPLEexample0123456789»"},
	{mark("a-huggingface-token"), "«hf·_EXAMPLEexampleEXAMPLEexample012345»"},
	{mark("an-npm-token"), "«np·m_EXAMPLEexampleEXAMPLEexample012345»"},
	{mark("a-google-api-key"), "maps «AI·zaEXAMPLE-example_EXAMPLE0123456789»"},
	{mark("a-google-client-secret"), "«GO·CSPX-EXAMPLE-example-0123456»"},
	{mark("a-google-access-token"), "«ya·29.EXAMPLE-example_0123456789»"},
	{mark("a-sendgrid-key"), "«S·G.EXAMPLE0123456789abcd.EXAMPLE0123456789abcdefghij»"},
	{mark("a-digitalocean-token"), "«do·p_v1_0123456789abcdef0123456789abcdef0123456789abcdef»"},
	{mark("a-shopify-token"), "«sh·pat_0123456789abcdef0123456789abcdef»"},
	{mark("a-vault-token"), "«hv·s.EXAMPLEexample0123456789»"},
	{mark("a-docker-token"), "«dc·kr_pat_EXAMPLE-example_0123456»"},
	{mark("a-linear-key"), "«li·n_api_EXAMPLEexample0123456789»"},
	{mark("a-grafana-token"), "«gl·sa_EXAMPLEexample0123456789_abcd»"},
	{mark("a-tailscale-key"), "«ts·key-auth-EXAMPLE0-0123456789»"},
	{mark("an-age-key"), "«AGE-SEC·RET-KEY-1EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE»"},
	{markTelegram, "bot «0123456789:A·AEXAMPLEexampleEXAMPLEexample01234»"},
	{mark("a-pypi-token"), "«py·pi-AgEEXAMPLEexample0123456789»"},
	{markPlain, "sent Bearer «EXAMPLE0123456789abcdef» to it"},
	{markPlain, "Basic «RVhBTVBMRTpwYXNz» was sent"},
	// Webhooks.
	{markWebhook, "post to https://hooks.slack.com/services/«T0EXAMPLE/B0EXAMPLE/EXAMPLEexample»"},
	{markWebhook, "https://discord.com/api/webhooks/«000000000/EXAMPLE-example_hook» is it"},
	{markWebhook, "https://example.webhook.office.com/webhookb2/«EXAMPLE@0/IncomingWebhook/EXAMPLE»"},
	{markWebhook, "https://api.telegram.org/bot«0123456789:A·AEXAMPLEexampleEXAMPLE/sendMessage»"},
	// Prose.
	{markPlain, "the admin password is «EXAMPLEhunter2!»"},
	{markPlain, "The password for root is «EXAMPLE#1», do not share it."},
	{markPlain, "my passphrase was \"«EXAMPLEcorrect»\""},
	{markPlain, "password '«EXAMPLE42»' does not work"},
	{markPlain, "The API key is «EXAMPLE0123456789ab»."},
	{markPlain, "the token is «EXAMPLE0123456789» and works"},
	{markPlain, "пароль: «EXAMPLE42»"},
	{markPlain, "contraseña = «EXAMPLE42»"},
	{markPlain, "密码：«EXAMPLE42»"},
	{markPlain, "Passwort: «EXAMPLE42»"},
	// Random values.
	{markEntropy, "FOO_VALUE=«aB3xK9pQ7zR2mW5tY8uL4nV6cD1eF0gHjSkT»"},
	{markEntropy, "deploy: \"«Zx9Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0LmNbVc»\""},
	{markEntropy, "it printed\n«pL0oK9iJ8uH7yG6tF5rD4eS3wA2qZ1xCvBnM»\nand ended"},
	{markEntropy, "seed = «Qa1Ws2Ed3Rf4Tg5Yh6Uj7Ik8Ol9PzXcVbNm+/==»"},
}
