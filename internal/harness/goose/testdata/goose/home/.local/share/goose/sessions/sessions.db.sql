CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '', description TEXT NOT NULL DEFAULT '', user_set_name BOOLEAN DEFAULT FALSE,
  session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  extension_data TEXT DEFAULT '{}', parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages (session_id);
INSERT INTO sessions VALUES
 ('20260202_1', 'Mend the millwheel', 'Mend the millwheel', 0, 'user', '/home/dev/src/mill', '2026-02-02 02:40:00', '2026-02-02 02:50:00', '{}', NULL),
 ('20260202_2', 'Count the cogs', '', 1, 'sub_agent', '/home/dev/src/mill', '2026-02-02 02:41:00', '2026-02-02 02:42:00', '{}', '20260202_1'),
 ('20260202_3', 'Mend the millwheel', '', 0, 'user', '/home/dev/src/mill', '2026-02-02 03:00:00', '2026-02-02 03:01:00', '{}', NULL),
 ('20250101_120000', 'A session that was a file', '', 0, 'user', '/home/dev/src/mill', '2025-01-01 12:00:00', '2025-01-01 12:00:05', '{}', NULL);
INSERT INTO messages(message_id, session_id, role, content_json, created_timestamp, timestamp, metadata_json) VALUES
 ('g1', '20260202_1', 'user', '[{"type":"text","text":"mend the paddleboard"}]', 1770000001, '2026-02-02 02:40:01', '{"userVisible":true,"agentVisible":false}'),
 ('g2', '20260202_1', 'assistant', '[{"type":"thinking","thinking":"a griststone?","signature":"x"},{"type":"text","text":"I grease the sprocketpin."},{"type":"toolRequest","id":"t1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"make wheel"}}}}]', 1770000002, '2026-02-02 02:40:02', '{"userVisible":true,"agentVisible":false}'),
 ('g3', '20260202_1', 'user', '[{"type":"toolResponse","id":"t1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"no flourbag","annotations":{"audience":["assistant"]}},{"type":"text","text":"no flourbag","annotations":{"audience":["user"]}}],"isError":true}}}]', 1770000003, '2026-02-02 02:40:03', NULL),
 ('g4', '20260202_1', 'assistant', '[{"type":"toolRequest","id":"t2","toolCall":{"status":"success","value":{"name":"developer__text_editor","arguments":{"command":"str_replace","path":"wheel.go","old_str":"stuck","new_str":"greased"}}}}]', 1770000004, '2026-02-02 02:40:04', NULL),
 ('g5', '20260202_1', 'user', '[{"type":"toolResponse","id":"t2","toolResult":{"status":"error","error":"the weir is closed"}}]', 1770000005, '2026-02-02 02:40:05', NULL),
 ('g6', '20260202_1', 'user', '[{"type":"text","text":"so far the wheel has a new axlecap"}]', 1770000006, '2026-02-02 02:40:06', '{"userVisible":false,"agentVisible":true}'),
 ('g7', '20260202_1', 'assistant', '[{"type":"text","text":"do not mention the cornsieve"}]', 1770000006, '2026-02-02 02:40:06', '{"userVisible":false,"agentVisible":true}'),
 ('g8', '20260202_1', 'assistant', '[{"type":"systemNotification","notificationType":"inlineMessage","msg":"Compaction of the hopperbin complete"}]', 1770000007, '2026-02-02 02:40:07', '{"userVisible":true,"agentVisible":false}'),
 ('g9', '20260202_1', 'assistant', '[{"type":"text","text":"The wheel "}]', 1770000008, '2026-02-02 02:40:08', NULL),
 ('g9', '20260202_1', 'assistant', '[{"type":"text","text":"turns like a dervishtop."}]', 1770000008, '2026-02-02 02:40:08', NULL),
 ('g10', '20260202_1', 'user', 'torn', 1770000009, '2026-02-02 02:40:09', NULL),
 ('h1', '20260202_2', 'user', '[{"type":"text","text":"count the camshafts"}]', 1770000060, '2026-02-02 02:41:00', NULL),
 ('g1', '20260202_3', 'user', '[{"type":"text","text":"mend the paddleboard"}]', 1770000001, '2026-02-02 03:00:00', NULL),
 ('f1', '20260202_3', 'user', '[{"type":"text","text":"no, saw the driftlog"}]', 1770001200, '2026-02-02 03:00:10', NULL),
 (NULL, '20250101_120000', 'user', '[{"type":"text","text":"is this the rowboat"}]', 1735732801, '2025-01-01 12:00:01', NULL);
