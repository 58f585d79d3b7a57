BEGIN TRANSACTION;
CREATE TABLE cell_changes (
            id TEXT NOT NULL PRIMARY KEY,
            context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
            job_id TEXT,
            notebook TEXT NOT NULL,
            cell_id TEXT NOT NULL,
            before TEXT, -- JSON
            after TEXT, -- JSON
            moved INTEGER NOT NULL,
            above TEXT,
            decision TEXT,
            created_at TEXT NOT NULL,
            decided_at TEXT
        );
CREATE TABLE checkpoints (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        job_id TEXT,
        task_id TEXT,
        data TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL
    );
INSERT INTO "checkpoints" VALUES('cp_01m7mdz4930jss941r4a','ctx_01m7mdz0gx60qe6afdsn','job_01m7mdz41gsaaergz46p',NULL,'{"label":"Before: Make a plan","tool":null,"step_id":null,"files":[],"uncovered":[],"reverts":[],"is_undo":false}','2026-11-17T09:38:48.237Z');
INSERT INTO "checkpoints" VALUES('cp_01m7mdz4agar4va13p0j','ctx_01m7mdz0gx60qe6afdsn','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"label":"create_file a.txt","tool":"create_file","step_id":"1","files":[{"path":"a.txt","change":"added","added":1,"removed":0}],"uncovered":[],"reverts":[],"is_undo":false}','2026-11-17T09:38:48.310Z');
CREATE TABLE contexts (
        position INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        notebook TEXT,
        role TEXT,
        model TEXT,
        system_prompt_id TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    );
INSERT INTO "contexts" VALUES(1,'ctx_01m7mdz0gx60qe6afdsn','Old talk',NULL,'actor',NULL,'default','2026-11-17T09:38:44.381Z','2026-11-17T09:38:48.349Z');
INSERT INTO "contexts" VALUES(3,'ctx_01m7mdz4fgepbg8knkzg','Asked',NULL,'actor',NULL,'default','2026-11-17T09:38:48.432Z','2026-11-17T09:38:48.484Z');
CREATE TABLE events (
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        type TEXT NOT NULL,
        job_id TEXT,
        task_id TEXT,
        data TEXT, -- JSON; NULL for a message, which is in `messages`
        created_at TEXT NOT NULL,
        PRIMARY KEY (context_id, seq)
    );
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',1,'job-started','job_01m7mdz10enerpebdp4n',NULL,'{"job_id":"job_01m7mdz10enerpebdp4n","status":"running","error":null,"kind":"message","role":"planner","request":"What is in there?","plan_id":null,"plan_revision":null,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7mdz10enerpebdp4n","created_at":"2026-11-17T09:38:44.878Z","completed_at":null}','2026-11-17T09:38:44.890Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',2,'message','job_01m7mdz10enerpebdp4n',NULL,NULL,'2026-11-17T09:38:44.880Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',3,'reasoning-delta','job_01m7mdz10enerpebdp4n',NULL,'{"text":"Let me think."}','2026-11-17T09:38:47.870Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',4,'text-delta','job_01m7mdz10enerpebdp4n',NULL,'{"text":"It is about größe & ruhe: 42 rows."}','2026-11-17T09:38:47.871Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',5,'usage','job_01m7mdz10enerpebdp4n',NULL,'{"prompt_tokens":1473,"completion_tokens":16,"total_tokens":1489,"estimated":true,"turns":1,"seconds":2.741,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:38:47.873Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',6,'message','job_01m7mdz10enerpebdp4n',NULL,NULL,'2026-11-17T09:38:47.873Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',7,'job-completed','job_01m7mdz10enerpebdp4n',NULL,'{"job_id":"job_01m7mdz10enerpebdp4n","status":"completed","error":null}','2026-11-17T09:38:47.888Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',8,'job-started','job_01m7mdz3z158ttw16awa',NULL,'{"job_id":"job_01m7mdz3z158ttw16awa","status":"running","error":null,"kind":"message","role":"planner","request":"Make a plan","plan_id":null,"plan_revision":null,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7mdz3z158ttw16awa","created_at":"2026-11-17T09:38:47.905Z","completed_at":null}','2026-11-17T09:38:47.906Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',9,'message','job_01m7mdz3z158ttw16awa',NULL,NULL,'2026-11-17T09:38:47.905Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',10,'usage','job_01m7mdz3z158ttw16awa',NULL,'{"prompt_tokens":1488,"completion_tokens":54,"total_tokens":1542,"estimated":true,"turns":1,"seconds":0.022,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:38:47.962Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',11,'message','job_01m7mdz3z158ttw16awa',NULL,NULL,'2026-11-17T09:38:47.964Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',12,'plan-update','job_01m7mdz3z158ttw16awa',NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7mdz40v11f2qvvvvd","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending"}],"estimated_total_time":"","risks":[],"prerequisites":[],"revision":1}','2026-11-17T09:38:47.965Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',13,'job-completed','job_01m7mdz3z158ttw16awa',NULL,'{"job_id":"job_01m7mdz3z158ttw16awa","status":"completed","error":null}','2026-11-17T09:38:47.966Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',14,'plan-update',NULL,NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7mdz40v11f2qvvvvd","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending"}],"estimated_total_time":"","risks":[],"prerequisites":[],"revision":2}','2026-11-17T09:38:47.979Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',15,'job-started','job_01m7mdz41gsaaergz46p',NULL,'{"job_id":"job_01m7mdz41gsaaergz46p","status":"running","error":null,"kind":"plan","role":"actor","request":"Make a plan","plan_id":"plan_01m7mdz40v11f2qvvvvd","plan_revision":2,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7mdz41gsaaergz46p","created_at":"2026-11-17T09:38:47.984Z","completed_at":null}','2026-11-17T09:38:47.985Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',16,'message','job_01m7mdz41gsaaergz46p',NULL,NULL,'2026-11-17T09:38:47.984Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',17,'message',NULL,NULL,NULL,'2026-11-17T09:38:47.986Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',18,'role-changed',NULL,NULL,'{"from":"planner","to":"actor"}','2026-11-17T09:38:47.986Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',19,'task-started','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"task_id":"task_01m7mdz41n517v4r0wyr","step_id":"1","role":"actor","description":"Write it down","status":"running","error":null,"result":null}','2026-11-17T09:38:47.990Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',20,'plan-update','job_01m7mdz41gsaaergz46p',NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7mdz40v11f2qvvvvd","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"running"}],"estimated_total_time":"","risks":[],"prerequisites":[],"revision":2}','2026-11-17T09:38:47.990Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',21,'message','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr',NULL,'2026-11-17T09:38:47.991Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',22,'usage','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"prompt_tokens":2099,"completion_tokens":33,"total_tokens":2132,"estimated":true,"turns":1,"seconds":0.085,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:38:48.130Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',23,'message','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr',NULL,'2026-11-17T09:38:48.131Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',24,'tool-call','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"call_id":"call_01m7mdz463qcyff66d7f","tool":"create_file","parameters":{"path":"a.txt","content":"a"}}','2026-11-17T09:38:48.131Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',25,'checkpoint-created','job_01m7mdz41gsaaergz46p',NULL,'{"id":"cp_01m7mdz4930jss941r4a","created_at":"2026-11-17T09:38:48.237Z","label":"Before: Make a plan","tool":null,"step_id":null,"files":[],"uncovered":[]}','2026-11-17T09:38:48.238Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',26,'checkpoint-created','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"id":"cp_01m7mdz4agar4va13p0j","created_at":"2026-11-17T09:38:48.310Z","label":"create_file a.txt","tool":"create_file","step_id":"1","files":[{"path":"a.txt","change":"added","added":1,"removed":0}],"uncovered":[]}','2026-11-17T09:38:48.311Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',27,'message','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr',NULL,'2026-11-17T09:38:48.312Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',28,'tool-result','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"call_id":"call_01m7mdz463qcyff66d7f","ok":true,"summary":"created a.txt (1 lines)","error":null}','2026-11-17T09:38:48.312Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',29,'text-delta','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"text":"Written."}','2026-11-17T09:38:48.338Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',30,'usage','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"prompt_tokens":2167,"completion_tokens":2,"total_tokens":2169,"estimated":true,"turns":1,"seconds":0.033,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:38:48.347Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',31,'message','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr',NULL,'2026-11-17T09:38:48.347Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',32,'message','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr',NULL,'2026-11-17T09:38:48.349Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',33,'task-completed','job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','{"task_id":"task_01m7mdz41n517v4r0wyr","step_id":"1","role":"actor","description":"Write it down","status":"completed","error":null,"result":"Written."}','2026-11-17T09:38:48.350Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',34,'plan-update','job_01m7mdz41gsaaergz46p',NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7mdz40v11f2qvvvvd","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"completed"}],"estimated_total_time":"","risks":[],"prerequisites":[],"revision":2}','2026-11-17T09:38:48.350Z');
INSERT INTO "events" VALUES('ctx_01m7mdz0gx60qe6afdsn',35,'job-completed','job_01m7mdz41gsaaergz46p',NULL,'{"job_id":"job_01m7mdz41gsaaergz46p","status":"completed","error":null}','2026-11-17T09:38:48.364Z');
INSERT INTO "events" VALUES('ctx_01m7mdz4fgepbg8knkzg',1,'job-started','job_01m7mdz4fxc5rfzkvreg',NULL,'{"job_id":"job_01m7mdz4fxc5rfzkvreg","status":"running","error":null,"kind":"message","role":"actor","request":"Ask me","plan_id":null,"plan_revision":null,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7mdz4fxc5rfzkvreg","created_at":"2026-11-17T09:38:48.445Z","completed_at":null}','2026-11-17T09:38:48.445Z');
INSERT INTO "events" VALUES('ctx_01m7mdz4fgepbg8knkzg',2,'message','job_01m7mdz4fxc5rfzkvreg',NULL,NULL,'2026-11-17T09:38:48.445Z');
INSERT INTO "events" VALUES('ctx_01m7mdz4fgepbg8knkzg',3,'usage','job_01m7mdz4fxc5rfzkvreg',NULL,'{"prompt_tokens":1780,"completion_tokens":16,"total_tokens":1796,"estimated":true,"turns":1,"seconds":0.016,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:38:48.483Z');
INSERT INTO "events" VALUES('ctx_01m7mdz4fgepbg8knkzg',4,'message','job_01m7mdz4fxc5rfzkvreg',NULL,NULL,'2026-11-17T09:38:48.484Z');
INSERT INTO "events" VALUES('ctx_01m7mdz4fgepbg8knkzg',5,'question-asked','job_01m7mdz4fxc5rfzkvreg',NULL,'{"type":"question","format_version":"1.0","question":"Which year?","context":"","severity":"major","options":[],"allow_custom":false,"id":"q_01m7mdz4h317gze3rf44"}','2026-11-17T09:38:48.484Z');
INSERT INTO "events" VALUES('ctx_01m7mdz4fgepbg8knkzg',6,'job-completed','job_01m7mdz4fxc5rfzkvreg',NULL,'{"job_id":"job_01m7mdz4fxc5rfzkvreg","status":"interrupted","error":"The service was stopped."}','2026-11-17T09:38:48.732Z');
CREATE TABLE inquiries (
            id TEXT NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL, -- question or permission
            context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
            job_id TEXT,
            task_id TEXT,
            asker TEXT NOT NULL,
            status TEXT NOT NULL,
            data TEXT NOT NULL, -- JSON
            answer TEXT, -- JSON
            used INTEGER NOT NULL,
            created_at TEXT NOT NULL,
            resolved_at TEXT
        );
INSERT INTO "inquiries" VALUES('q_01m7mdz4h317gze3rf44','question','ctx_01m7mdz4fgepbg8knkzg','job_01m7mdz4fxc5rfzkvreg',NULL,'model','pending','{"type":"question","format_version":"1.0","question":"Which year?","context":"","severity":"major","options":[],"default":null,"allow_custom":false}',NULL,0,'2026-11-17T09:38:48.483Z',NULL);
CREATE TABLE jobs (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        status TEXT NOT NULL,
        error TEXT,
        usage TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL,
        completed_at TEXT,
        owner TEXT -- the process that runs it
    , kind TEXT NOT NULL DEFAULT 'message', role TEXT, request TEXT NOT NULL DEFAULT '', plan_id TEXT, plan_revision INTEGER, notebook TEXT, cell_id TEXT, "by" TEXT NOT NULL DEFAULT 'person', card_id TEXT NOT NULL DEFAULT '');
INSERT INTO "jobs" VALUES('job_01m7mdz10enerpebdp4n','ctx_01m7mdz0gx60qe6afdsn','completed',NULL,'{"prompt_tokens":1473,"completion_tokens":16,"total_tokens":1489,"estimated":true,"turns":1,"seconds":2.764,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:38:44.878Z','2026-11-17T09:38:47.887Z',NULL,'message','planner','What is in there?',NULL,NULL,NULL,NULL,'person','job_01m7mdz10enerpebdp4n');
INSERT INTO "jobs" VALUES('job_01m7mdz3z158ttw16awa','ctx_01m7mdz0gx60qe6afdsn','completed',NULL,'{"prompt_tokens":1488,"completion_tokens":54,"total_tokens":1542,"estimated":true,"turns":1,"seconds":0.045,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:38:47.905Z','2026-11-17T09:38:47.965Z',NULL,'message','planner','Make a plan','plan_01m7mdz40v11f2qvvvvd',1,NULL,NULL,'person','job_01m7mdz3z158ttw16awa');
INSERT INTO "jobs" VALUES('job_01m7mdz41gsaaergz46p','ctx_01m7mdz0gx60qe6afdsn','completed',NULL,'{"prompt_tokens":4266,"completion_tokens":35,"total_tokens":4301,"estimated":true,"turns":2,"seconds":0.213,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:38:47.984Z','2026-11-17T09:38:48.363Z',NULL,'plan','actor','Make a plan','plan_01m7mdz40v11f2qvvvvd',2,NULL,NULL,'person','job_01m7mdz41gsaaergz46p');
INSERT INTO "jobs" VALUES('job_01m7mdz4fxc5rfzkvreg','ctx_01m7mdz4fgepbg8knkzg','interrupted','The service was stopped.','{"prompt_tokens":1780,"completion_tokens":16,"total_tokens":1796,"estimated":true,"turns":1,"seconds":0.028,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:38:48.445Z','2026-11-17T09:38:48.731Z',NULL,'message','actor','Ask me',NULL,NULL,NULL,NULL,'person','job_01m7mdz4fxc5rfzkvreg');
CREATE TABLE messages (
        id TEXT NOT NULL PRIMARY KEY,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        job_id TEXT,
        task_id TEXT,
        role TEXT NOT NULL,
        agent_role TEXT,
        message_type TEXT,
        content TEXT NOT NULL, -- JSON, whole
        data TEXT NOT NULL, -- JSON
        created_at TEXT NOT NULL,
        UNIQUE (context_id, seq)
    );
INSERT INTO "messages" VALUES('msg_01m7mdz10ez793xq9wpj','ctx_01m7mdz0gx60qe6afdsn',2,'job_01m7mdz10enerpebdp4n',NULL,'user','planner','text','[{"type":"text","text":"What is in there?"}]','{}','2026-11-17T09:38:44.880Z');
INSERT INTO "messages" VALUES('msg_01m7mdz3y1r19dzawt1b','ctx_01m7mdz0gx60qe6afdsn',6,'job_01m7mdz10enerpebdp4n',NULL,'assistant','planner','text','[{"type":"text","text":"It is about größe & ruhe: 42 rows."}]','{"reasoning":"Let me think."}','2026-11-17T09:38:47.873Z');
INSERT INTO "messages" VALUES('msg_01m7mdz3z1byqs6x2y1g','ctx_01m7mdz0gx60qe6afdsn',9,'job_01m7mdz3z158ttw16awa',NULL,'user','planner','text','[{"type":"text","text":"Make a plan"}]','{}','2026-11-17T09:38:47.905Z');
INSERT INTO "messages" VALUES('msg_01m7mdz40w3q4kgfzykc','ctx_01m7mdz0gx60qe6afdsn',11,'job_01m7mdz3z158ttw16awa',NULL,'assistant','planner','plan','[]','{"type":"plan","format_version":"1.0","id":"plan_01m7mdz40v11f2qvvvvd","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending"}],"estimated_total_time":"","risks":[],"prerequisites":[]}','2026-11-17T09:38:47.964Z');
INSERT INTO "messages" VALUES('msg_01m7mdz41gtdvhncqaa7','ctx_01m7mdz0gx60qe6afdsn',16,'job_01m7mdz41gsaaergz46p',NULL,'user',NULL,'text','[{"type":"text","text":"Execute the plan (revision 2)."}]','{"approved_revision":2,"plan_id":"plan_01m7mdz40v11f2qvvvvd","by":"person"}','2026-11-17T09:38:47.984Z');
INSERT INTO "messages" VALUES('msg_01m7mdz41jpxp8kqwav3','ctx_01m7mdz0gx60qe6afdsn',17,NULL,NULL,'system','actor','role_change','[{"type":"text","text":"The role is now Actor."}]','{"from":"planner","to":"actor"}','2026-11-17T09:38:47.986Z');
INSERT INTO "messages" VALUES('msg_01m7mdz41q1pcxh5xa1p','ctx_01m7mdz0gx60qe6afdsn',21,'job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','user','actor','task_assignment','[{"type":"text","text":"The plan''s goal: Keep a note\nThe user''s request: Make a plan\nYour task is step 1 of an approved plan.\nThe step: Write it down\nWhy: So that it is kept\nTools it was approved for: create_file\n\nDo just this step. If you need to know more, read, or ask with a question. End with only this JSON object:\n{\"type\": \"result\", \"format_version\": \"1.0\", \"status\": \"done\", \"summary\": \"what you did and found\", \"left_undone\": \"\"}\n`status` is done, partly or failed. The steps after this one read the `summary`; if the step failed, it says why. `left_undone` says what of the step is still to do."}]','{"step":{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"running"},"task_id":"task_01m7mdz41n517v4r0wyr","goal":"Keep a note","results":{},"hint":""}','2026-11-17T09:38:47.991Z');
INSERT INTO "messages" VALUES('msg_01m7mdz463cq9pr6nqas','ctx_01m7mdz0gx60qe6afdsn',23,'job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','assistant','actor','tool_call','[]','{"call_id":"call_01m7mdz463qcyff66d7f","tool":"create_file","parameters":{"path":"a.txt","content":"a"}}','2026-11-17T09:38:48.131Z');
INSERT INTO "messages" VALUES('msg_01m7mdz4brh7tttzm9kr','ctx_01m7mdz0gx60qe6afdsn',27,'job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','tool','actor','tool_result','[{"type":"text","text":"Created a.txt (1 lines)."}]','{"call_id":"call_01m7mdz463qcyff66d7f","ok":true,"summary":"created a.txt (1 lines)","error":null,"tool":"create_file","facts":{"paths":["a.txt"],"diff":"--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n","added":1,"removed":0}}','2026-11-17T09:38:48.312Z');
INSERT INTO "messages" VALUES('msg_01m7mdz4cv1h71gf8gc0','ctx_01m7mdz0gx60qe6afdsn',31,'job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','assistant','actor','text','[{"type":"text","text":"Written."}]','{}','2026-11-17T09:38:48.347Z');
INSERT INTO "messages" VALUES('msg_01m7mdz4cx74r0pqvvnt','ctx_01m7mdz0gx60qe6afdsn',32,'job_01m7mdz41gsaaergz46p','task_01m7mdz41n517v4r0wyr','assistant','actor','task_result','[{"type":"text","text":"Written."}]','{"status":"completed","step_id":"1","left_undone":"","shortfalls":[]}','2026-11-17T09:38:48.349Z');
INSERT INTO "messages" VALUES('msg_01m7mdz4fx786mycpe79','ctx_01m7mdz4fgepbg8knkzg',2,'job_01m7mdz4fxc5rfzkvreg',NULL,'user','actor','text','[{"type":"text","text":"Ask me"}]','{}','2026-11-17T09:38:48.445Z');
INSERT INTO "messages" VALUES('msg_01m7mdz4h416qb9yrpd3','ctx_01m7mdz4fgepbg8knkzg',4,'job_01m7mdz4fxc5rfzkvreg',NULL,'assistant','actor','question','[{"type":"text","text":"Which year?"}]','{"type":"question","format_version":"1.0","question":"Which year?","context":"","severity":"major","options":[],"allow_custom":false,"id":"q_01m7mdz4h317gze3rf44"}','2026-11-17T09:38:48.484Z');
CREATE TABLE owners (context_id TEXT NOT NULL PRIMARY KEY REFERENCES contexts(id) ON DELETE CASCADE, owner TEXT NOT NULL);
INSERT INTO "owners" VALUES('ctx_01m7mdz0gx60qe6afdsn','1b1f5f83f46f44ff8f5521298c6b38b0');
INSERT INTO "owners" VALUES('ctx_01m7mdz4fgepbg8knkzg','1b1f5f83f46f44ff8f5521298c6b38b0');
CREATE TABLE plans (
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        plan_id TEXT NOT NULL,
        revision INTEGER NOT NULL,
        plan TEXT NOT NULL, -- JSON
        made_at TEXT NOT NULL,
        files_read TEXT NOT NULL, -- JSON: fingerprint by path
        request TEXT NOT NULL,
        job_id TEXT,
        "by" TEXT NOT NULL,
        change TEXT NOT NULL,
        PRIMARY KEY (plan_id, revision)
    );
INSERT INTO "plans" VALUES('ctx_01m7mdz0gx60qe6afdsn','plan_01m7mdz40v11f2qvvvvd',1,'{"type":"plan","format_version":"1.0","id":"plan_01m7mdz40v11f2qvvvvd","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending"}],"estimated_total_time":"","risks":[],"prerequisites":[]}','2026-11-17T09:38:47.963Z','{}','Make a plan','job_01m7mdz3z158ttw16awa','planner','');
INSERT INTO "plans" VALUES('ctx_01m7mdz0gx60qe6afdsn','plan_01m7mdz40v11f2qvvvvd',2,'{"type":"plan","format_version":"1.0","id":"plan_01m7mdz40v11f2qvvvvd","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"completed"}],"estimated_total_time":"","risks":[],"prerequisites":[]}','2026-11-17T09:38:47.978Z','{}','Make a plan',NULL,'person','1 step changed');
CREATE TABLE queued_messages (id TEXT NOT NULL PRIMARY KEY, context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE, content TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE tasks (
        id TEXT NOT NULL PRIMARY KEY,
        job_id TEXT NOT NULL,
        context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE,
        step_id TEXT NOT NULL,
        description TEXT NOT NULL,
        status TEXT NOT NULL,
        dependencies TEXT NOT NULL, -- JSON
        result TEXT,
        error TEXT,
        created_at TEXT NOT NULL,
        completed_at TEXT
    , role TEXT NOT NULL DEFAULT 'actor');
INSERT INTO "tasks" VALUES('task_01m7mdz41n517v4r0wyr','job_01m7mdz41gsaaergz46p','ctx_01m7mdz0gx60qe6afdsn','1','Write it down','completed','[]','Written.',NULL,'2026-11-17T09:38:47.989Z','2026-11-17T09:38:48.349Z','actor');
CREATE INDEX messages_by_job ON messages (job_id, seq) WHERE job_id IS NOT NULL;
CREATE INDEX messages_by_task ON messages (task_id, seq) WHERE task_id IS NOT NULL;
CREATE INDEX jobs_by_context ON jobs (context_id);
CREATE INDEX jobs_by_status ON jobs (status);
CREATE INDEX tasks_by_job ON tasks (job_id);
CREATE INDEX tasks_by_context ON tasks (context_id);
CREATE INDEX checkpoints_by_context ON checkpoints (context_id);
CREATE INDEX plans_by_context ON plans (context_id);
CREATE INDEX jobs_by_card ON jobs (card_id);
CREATE INDEX jobs_by_plan ON jobs (plan_id) WHERE plan_id IS NOT NULL;
CREATE UNIQUE INDEX pending_cell_changes ON cell_changes (notebook, cell_id) WHERE decision IS NULL;
CREATE INDEX inquiries_by_status ON inquiries (status, context_id);
CREATE INDEX inquiries_by_job ON inquiries (job_id);
CREATE INDEX queued_in_context ON queued_messages (context_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('contexts',3);
COMMIT;
PRAGMA user_version=8;
