-- an older form: no table of events, parts that do not name their session
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
INSERT INTO session VALUES ('ses_k1', NULL, '/home/dev/src/orchard', 'Prune the orchard', 1771000000000, 1771000010000);
INSERT INTO message VALUES
 ('msg_k1', 'ses_k1', 1771000001000, 1771000001000, '{"role":"user","time":{"created":1771000001000}}'),
 ('msg_k2', 'ses_k1', 1771000002000, 1771000005000, '{"parentID":"msg_k1","role":"assistant","time":{"created":1771000002000,"completed":1771000005000}}');
INSERT INTO part VALUES
 ('prt_k1', 'msg_k1', 1771000001001, 1771000001001, '{"type":"text","text":"prune the crabapple"}'),
 ('prt_k2', 'msg_k2', 1771000002001, 1771000004000, '{"type":"tool","tool":"apply_patch","callID":"c1","state":{"status":"completed","input":{"patchText":"*** Begin Patch\n*** Update File: trees/crabapple.txt\n@@\n-long branch\n+short branch\n*** End Patch"},"output":"Updated 1 file","metadata":{},"time":{"start":1771000002001,"end":1771000003000}}}'),
 ('prt_k3', 'msg_k2', 1771000004001, 1771000005000, '{"type":"text","text":"The crabapple is pruned to a bonsaifork.","time":{"start":1771000004001,"end":1771000005000}}');
