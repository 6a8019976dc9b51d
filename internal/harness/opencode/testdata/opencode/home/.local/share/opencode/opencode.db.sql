CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
  title text NOT NULL, version text NOT NULL, summary_diffs text, revert text, permission text, model text,
  time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL, owner_id text);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message (session_id, seq);

INSERT INTO session VALUES
 ('ses_1main', 'p1', NULL, 'amber-mill', '/home/dev/src/lantern', 'Teach the lantern to blink', '1.18.33', '[{"file":"blink.go","additions":2,"deletions":1}]', NULL, '[]', '{"id":"m"}', 1770000000000, 1770000090000),
 ('ses_2child', 'p1', 'ses_1main', 'calm-reed', '/home/dev/src/lantern', 'Child session - 2026-02-02T02:40:40.000Z', '1.18.33', NULL, NULL, NULL, NULL, 1770000040000, 1770000045000),
 ('ses_3fork', 'p1', NULL, 'dim-quay', '/home/dev/src/lantern', 'Teach the lantern to blink (fork #1)', '1.18.33', NULL, NULL, NULL, NULL, 1770000500000, 1770000600000),
 ('ses_4next', 'p1', NULL, 'even-tide', '/home/dev/src/lantern', 'New session - 2026-02-02T03:00:00.000Z', '2.0.1', NULL, NULL, NULL, NULL, 1770001000000, 1770001100000),
 ('ses_5switch', 'p1', NULL, 'fond-isle', '/home/dev/src/lantern', 'Count the moths', '1.18.33', NULL, NULL, NULL, NULL, 1770002000000, 1770002100000);
INSERT INTO event_sequence VALUES ('ses_1main', 40, NULL), ('ses_2child', 5, NULL), ('ses_3fork', 9, NULL);

-- a session of 1.x: a prompt with a file, tools that end in every way, a compaction, a failed request
INSERT INTO message VALUES
 ('msg_a1', 'ses_1main', 1770000001000, 1770000001000, '{"role":"user","time":{"created":1770000001000},"agent":"build","summary":{"diffs":[]}}'),
 ('msg_a2', 'ses_1main', 1770000002000, 1770000030000, '{"parentID":"msg_a1","role":"assistant","mode":"build","path":{"cwd":"/home/dev/src/lantern","root":"/home/dev/src/lantern"},"time":{"created":1770000002000,"completed":1770000030000},"finish":"tool-calls"}'),
 ('msg_a3', 'ses_1main', 1770000050000, 1770000050000, '{"role":"user","time":{"created":1770000050000},"agent":"compaction"}'),
 ('msg_a4', 'ses_1main', 1770000051000, 1770000055000, '{"parentID":"msg_a3","role":"assistant","mode":"compaction","summary":true,"time":{"created":1770000051000,"completed":1770000055000},"finish":"stop"}'),
 ('msg_a5', 'ses_1main', 1770000060000, 1770000060000, '{"role":"user","time":{"created":1770000060000}}'),
 ('msg_a6', 'ses_1main', 1770000061000, 1770000062000, '{"parentID":"msg_a5","role":"assistant","time":{"created":1770000061000,"completed":1770000062000},"error":{"name":"APIError","data":{"message":"the gateway was overgrown with thistledown","statusCode":400}}}');
INSERT INTO part VALUES
 ('prt_a10', 'msg_a1', 'ses_1main', 1770000001001, 1770000001001, '{"type":"text","text":"make the pumpkinlamp blink twice"}'),
 ('prt_a11', 'msg_a1', 'ses_1main', 1770000001002, 1770000001002, '{"type":"text","synthetic":true,"text":"Called the Read tool on blink.go: 00001| package thimblerig"}'),
 ('prt_a12', 'msg_a1', 'ses_1main', 1770000001003, 1770000001003, '{"type":"file","mime":"text/plain","filename":"blink.go","url":"file:///home/dev/src/lantern/blink.go","source":{"type":"file","path":"/home/dev/src/lantern/blink.go","text":{"value":"@blink.go","start":0,"end":9}}}'),
 ('prt_a13', 'msg_a1', 'ses_1main', 1770000001004, 1770000001004, '{"type":"text","synthetic":true,"text":"<system-reminder>Your mode is now grumblemode.</system-reminder>"}'),
 ('prt_a20', 'msg_a2', 'ses_1main', 1770000002001, 1770000002001, '{"snapshot":"0f","type":"step-start"}'),
 ('prt_a21', 'msg_a2', 'ses_1main', 1770000002002, 1770000002003, '{"type":"reasoning","text":"perhaps a wobbleflute would do","time":{"start":1770000002002,"end":1770000002003}}'),
 ('prt_a22', 'msg_a2', 'ses_1main', 1770000003000, 1770000003500, '{"type":"text","text":"I look at the snailclock first.","time":{"start":1770000003000,"end":1770000003400}}'),
 ('prt_a23', 'msg_a2', 'ses_1main', 1770000004000, 1770000006000, '{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"go test ./blink","description":"Run"},"output":"ok  lantern/blink\n","title":"Run","metadata":{"output":"ok","exit":0},"time":{"start":1770000004000,"end":1770000005900}}}'),
 ('prt_a24', 'msg_a2', 'ses_1main', 1770000007000, 1770000009000, '{"type":"tool","tool":"bash","callID":"c2","state":{"status":"completed","input":{"command":"make gloworm"},"output":"make: no rule for gloworm\n","metadata":{"exit":2},"time":{"start":1770000007000,"end":1770000008900}}}'),
 ('prt_a25', 'msg_a2', 'ses_1main', 1770000010000, 1770000011000, '{"type":"tool","tool":"edit","callID":"c3","state":{"status":"completed","input":{"filePath":"/home/dev/src/lantern/blink.go","oldString":"blinkOnce(candle)","newString":"blinkTwice(candle)"},"output":"Edit applied.","metadata":{"diff":"x"},"time":{"start":1770000010000,"end":1770000010900}}}'),
 ('prt_a26', 'msg_a2', 'ses_1main', 1770000012000, 1770000013000, '{"type":"tool","tool":"read","callID":"c4","state":{"status":"error","input":{"filePath":"/home/dev/src/lantern/nowhere.go"},"error":"File not found: marshfern","time":{"start":1770000012000,"end":1770000012900}}}'),
 ('prt_a27', 'msg_a2', 'ses_1main', 1770000014000, 1770000014000, '{"type":"tool","tool":"task","callID":"c5","state":{"status":"running","input":{"description":"count","prompt":"count the dragonflies","subagent_type":"general"},"time":{"start":1770000014000}}}'),
 ('prt_a28', 'msg_a2', 'ses_1main', 1770000030000, 1770000030000, '{"reason":"tool-calls","snapshot":"0f","type":"step-finish","cost":0}'),
 ('prt_a30', 'msg_a3', 'ses_1main', 1770000050001, 1770000050001, '{"type":"compaction","auto":true}'),
 ('prt_a40', 'msg_a4', 'ses_1main', 1770000051001, 1770000055000, '{"type":"text","text":"Summary: the lantern learned the doubleblink.","time":{"start":1770000051001,"end":1770000055000}}'),
 ('prt_a50', 'msg_a5', 'ses_1main', 1770000060001, 1770000060001, '{"type":"text","text":"and now the foghornbell"}'),
 ('prt_a60', 'msg_a6', 'ses_1main', 1770000061001, 1770000061001, '{"type":"hologram","text":"nobody knows this"}');

-- the session of a subagent
INSERT INTO message VALUES
 ('msg_b1', 'ses_2child', 1770000041000, 1770000041000, '{"role":"user","time":{"created":1770000041000}}'),
 ('msg_b2', 'ses_2child', 1770000042000, 1770000043000, '{"parentID":"msg_b1","role":"assistant","time":{"created":1770000042000,"completed":1770000043000}}');
INSERT INTO part VALUES
 ('prt_b10', 'msg_b1', 'ses_2child', 1770000041001, 1770000041001, '{"type":"text","text":"count the dragonflies"}'),
 ('prt_b20', 'msg_b2', 'ses_2child', 1770000042001, 1770000042500, '{"type":"text","text":"There are eleven mudskippers.","time":{"start":1770000042001,"end":1770000042500}}');

-- a fork: the first two messages are copies, under new ids and with their old times
INSERT INTO message VALUES
 ('msg_c1', 'ses_3fork', 1770000001000, 1770000500001, '{"role":"user","time":{"created":1770000001000},"agent":"build"}'),
 ('msg_c2', 'ses_3fork', 1770000002000, 1770000500002, '{"parentID":"msg_c1","role":"assistant","time":{"created":1770000002000,"completed":1770000030000}}'),
 ('msg_c3', 'ses_3fork', 1770000510000, 1770000510000, '{"role":"user","time":{"created":1770000510000}}');
INSERT INTO part VALUES
 ('prt_c10', 'msg_c1', 'ses_3fork', 1770000500001, 1770000500001, '{"type":"text","text":"make the pumpkinlamp blink twice"}'),
 ('prt_c20', 'msg_c2', 'ses_3fork', 1770000500002, 1770000500002, '{"type":"text","text":"I look at the snailclock first.","time":{"start":1770000003000,"end":1770000003400}}'),
 ('prt_c30', 'msg_c3', 'ses_3fork', 1770000510001, 1770000510001, '{"type":"text","text":"try the other hedgerow"}');

-- a session of 2.0, of which 1.x rows are left
INSERT INTO message VALUES
 ('msg_d0', 'ses_4next', 1770001001000, 1770001001000, '{"role":"user","time":{"created":1770001001000}}');
INSERT INTO part VALUES
 ('prt_d00', 'msg_d0', 'ses_4next', 1770001001001, 1770001001001, '{"type":"text","text":"polish the quicksilver"}');
INSERT INTO session_message VALUES
 ('evt_d1', 'ses_4next', 'agent-switched', 0, 1770001000500, 1770001000500, '{"agent":"build","time":{"created":1770001000500}}'),
 ('evt_d2', 'ses_4next', 'user', 1, 1770001001000, 1770001001000, '{"text":"polish the quicksilver","files":[{"uri":"file:///home/dev/src/lantern/a.go","name":"a.go"}],"time":{"created":1770001001000}}'),
 ('evt_d3', 'ses_4next', 'assistant', 2, 1770001002000, 1770001005000, '{"agent":"build","content":[{"type":"reasoning","text":"a dreamcatcher"},{"type":"text","text":"Polishing with beeswax."},{"type":"tool","id":"t1","name":"shell","state":{"status":"completed","input":{"command":"rub --hard"},"structured":{"exit":3},"content":[{"type":"text","text":"rub: cloth missing"}]},"time":{"created":1770001003000,"completed":1770001004000}},{"type":"tool","id":"t2","name":"read","state":{"status":"completed","input":{"path":"a.go"},"content":[{"type":"text","text":"package copperkettle"}]},"time":{"created":1770001003500,"completed":1770001004500}},{"type":"tool","id":"t3","name":"edit","state":{"status":"error","input":{"path":"a.go","oldString":"dull","newString":"shiny"},"error":{"type":"unknown","message":"the edit slipped"}},"time":{"created":1770001004600,"completed":1770001004700}}],"finish":"tool-calls","time":{"created":1770001002000,"completed":1770001005000}}'),
 ('evt_d4', 'ses_4next', 'synthetic', 3, 1770001006000, 1770001006000, '{"sessionID":"ses_4next","text":"background job weathervane ended","time":{"created":1770001006000}}'),
 ('evt_d5', 'ses_4next', 'compaction', 4, 1770001007000, 1770001007000, '{"reason":"auto","summary":"so far: one polished nutmeg","time":{"created":1770001007000}}'),
 ('evt_d6', 'ses_4next', 'system', 5, 1770001007500, 1770001007500, '{"text":"you are a helpful brassmonkey","time":{"created":1770001007500}}'),
 ('evt_d7', 'ses_4next', 'shell', 6, 1770001008000, 1770001008000, '{"callID":"s1","command":"git status","output":"clean as a whistlepig","time":{"created":1770001008000,"completed":1770001009000}}'),
 ('evt_d8', 'ses_4next', 'weather', 7, 1770001009000, 1770001009000, '{"text":"rain"}');

-- a session of 1.x in an upgraded store: only a switch stands in the table of 2.0
INSERT INTO session_message VALUES
 ('evt_e1', 'ses_5switch', 'model-switched', 0, 1770002000500, 1770002000500, '{"model":{"id":"m","providerID":"p"},"time":{"created":1770002000500}}');
INSERT INTO message VALUES
 ('msg_e1', 'ses_5switch', 1770002001000, 1770002001000, '{"role":"user","time":{"created":1770002001000}}'),
 ('msg_e2', 'ses_5switch', 1770002002000, 1770002002000, '{"role":"assistant","time":{"created":1770002002000}}'),
 ('msg_e3', 'ses_5switch', 1770002003000, 1770002003000, 'torn {');
INSERT INTO part VALUES
 ('prt_e10', 'msg_e1', 'ses_5switch', 1770002001001, 1770002001001, '{"type":"text","text":"how many hawkmoths"}'),
 ('prt_e20', 'msg_e2', 'ses_5switch', 1770002002001, 1770002002001, '{"type":"text","text":"Seven hawkmoths and a lacewing."}'),
 ('prt_e21', 'msg_e2', 'ses_5switch', 1770002002002, 1770002002002, 'no json at all');
