-- the task that stands in the extension's store, as the CLI takes it over, and a session of its own
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
INSERT INTO session VALUES
 ('ses_migrated5d0c', NULL, '/w/tern', 'why does the tern build fail? see @/build.log', 1772359200000, 1772359201000),
 ('ses_k1', NULL, '/w/tern', 'Rail the platform', 1772445600000, 1772445610000);
INSERT INTO message VALUES
 ('msg_m1', 'ses_migrated5d0c', 1772359200000, 1772359200000, '{"role":"user","time":{"created":1772359200000}}'),
 ('msg_m2', 'ses_migrated5d0c', 1772359201000, 1772359201000, '{"parentID":"msg_m1","role":"assistant","time":{"created":1772359201000}}'),
 ('msg_k1', 'ses_k1', 1772445601000, 1772445601000, '{"role":"user","time":{"created":1772445601000}}'),
 ('msg_k2', 'ses_k1', 1772445602000, 1772445605000, '{"parentID":"msg_k1","role":"assistant","time":{"created":1772445602000,"completed":1772445605000}}');
INSERT INTO part VALUES
 ('prt_m1', 'msg_m1', 'ses_migrated5d0c', 1772359200000, 1772359200000, '{"type":"text","text":"why does the tern build fail? see @/build.log"}'),
 ('prt_m2', 'msg_m2', 'ses_migrated5d0c', 1772359201000, 1772359201000, '{"type":"text","text":"I look at the build file."}'),
 ('prt_k1', 'msg_k1', 'ses_k1', 1772445601001, 1772445601001, '{"type":"text","text":"rail the platform"}'),
 ('prt_k2', 'msg_k2', 'ses_k1', 1772445602001, 1772445604000, '{"type":"tool","tool":"apply_patch","callID":"c1","state":{"status":"completed","input":{"patchText":"*** Begin Patch\n*** Update File: rail/platform.txt\n@@\n-no rail\n+oak rail\n*** End Patch"},"output":"Updated 1 file","metadata":{},"time":{"start":1772445602001,"end":1772445603000}}}'),
 ('prt_k3', 'msg_k2', 'ses_k1', 1772445604001, 1772445605000, '{"type":"text","text":"The platform has an oak rail now.","time":{"start":1772445604001,"end":1772445605000}}');
