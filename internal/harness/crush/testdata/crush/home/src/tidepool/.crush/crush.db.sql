CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
  prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0,
  updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL, summary_message_id TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER);
CREATE INDEX idx_messages_session_id ON messages (session_id);
INSERT INTO sessions(id, parent_session_id, title, updated_at, created_at, summary_message_id) VALUES
 ('c-1', NULL, 'Drain the tidepool', 1770000100, 1770000000, 'm-6'),
 ('m-2$$call-2', 'c-1', 'New Agent Session', 1770000030, 1770000020, NULL);
INSERT INTO messages(id, session_id, role, parts, created_at, updated_at) VALUES
 ('m-1', 'c-1', 'user', '[{"type":"text","data":{"text":"drain the starfishpool"}},{"type":"binary","data":{"Path":"/home/dev/src/tidepool/map.png","MIMEType":"image/png","Data":"AAAA"}},{"type":"finish","data":{"reason":"stop","time":1770000001}}]', 1770000001, 1770000001),
 ('m-2', 'c-1', 'assistant', '[{"type":"reasoning","data":{"thinking":"a sealsong maybe"}},{"type":"text","data":{"text":"I open the limpetgate."}},{"type":"tool_call","data":{"id":"call-1","name":"bash","input":"{\"command\":\"make drain\"}","type":"","finished":true}},{"type":"tool_call","data":{"id":"call-3","name":"edit","input":"{\"file_path\":\"gate.go\",\"old_string\":\"shut()\",\"new_string\":\"open()\"}","finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1770000005}}]', 1770000002, 1770000005),
 ('m-3', 'c-1', 'tool', '[{"type":"tool_result","data":{"tool_call_id":"call-1","name":"bash","content":"no rule for barnacles\nExit code 2\n\n<cwd>/home/dev/src/whelkdir</cwd>","is_error":false}},{"type":"tool_result","data":{"tool_call_id":"call-3","name":"edit","content":"old_string not found in cockleshell","is_error":true}}]', 1770000006, 1770000006),
 ('m-4', 'c-1', 'assistant', '[{"type":"text","data":{"text":"It is drained"}},{"type":"finish","data":{"reason":"error","time":1770000008,"message":"Provider Error","details":"the kelpserver slept"}}]', 1770000007, 1770000008),
 ('m-5', 'c-1', 'assistant', '[]', 1770000009, 1770000009),
 ('m-6', 'c-1', 'assistant', '[{"type":"text","data":{"text":"So far the periwinkle is dry."}}]', 1770000010, 1770000011),
 ('m-7', 'c-1', 'user', 'torn [', 1770000012, 1770000012),
 ('m-8', 'm-2$$call-2', 'user', '[{"type":"text","data":{"text":"count the anemones"}}]', 1770000021, 1770000021);
