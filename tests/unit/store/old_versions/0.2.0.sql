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
INSERT INTO "checkpoints" VALUES('cp_01m7me097v9psc5bsmh2','ctx_01m7me03qdsz6vm8wztw','job_01m7me08wen4z4071qq9',NULL,'{"label":"Before: Make a plan","tool":null,"step_id":null,"files":[],"uncovered":[],"reverts":[],"is_undo":false}','2026-11-17T09:39:26.091Z');
INSERT INTO "checkpoints" VALUES('cp_01m7me098ype2dykvhm3','ctx_01m7me03qdsz6vm8wztw','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"label":"create_file a.txt","tool":"create_file","step_id":"1","files":[{"path":"a.txt","change":"added","added":1,"removed":0}],"uncovered":[],"reverts":[],"is_undo":false}','2026-11-17T09:39:26.148Z');
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
    , pinned INTEGER NOT NULL DEFAULT 0);
INSERT INTO "contexts" VALUES(1,'ctx_01m7me03qdsz6vm8wztw','Old talk',NULL,'actor',NULL,'default','2026-11-17T09:39:20.429Z','2026-11-17T09:39:26.236Z',0);
INSERT INTO "contexts" VALUES(3,'ctx_01m7me09g06b5js5cnfj','Asked',NULL,'actor',NULL,'default','2026-11-17T09:39:26.336Z','2026-11-17T09:39:26.548Z',0);
CREATE TABLE deleted_rows (context_id TEXT NOT NULL, deleted_at TEXT NOT NULL, table_name TEXT NOT NULL, row TEXT NOT NULL);
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
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',1,'job-started','job_01m7me040010pqb3hbaf',NULL,'{"job_id":"job_01m7me040010pqb3hbaf","status":"running","error":null,"kind":"message","role":"planner","request":"What is in there?","plan_id":null,"plan_revision":null,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7me040010pqb3hbaf","created_at":"2026-11-17T09:39:20.704Z","completed_at":null}','2026-11-17T09:39:20.724Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',2,'message','job_01m7me040010pqb3hbaf',NULL,NULL,'2026-11-17T09:39:20.704Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',3,'reasoning-delta','job_01m7me040010pqb3hbaf',NULL,'{"text":"Let me think."}','2026-11-17T09:39:25.289Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',4,'text-delta','job_01m7me040010pqb3hbaf',NULL,'{"text":"It is about größe & ruhe: 42 rows."}','2026-11-17T09:39:25.289Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',5,'usage','job_01m7me040010pqb3hbaf',NULL,'{"prompt_tokens":2091,"completion_tokens":16,"total_tokens":2107,"estimated":true,"turns":1,"seconds":4.418,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:39:25.320Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',6,'message','job_01m7me040010pqb3hbaf',NULL,NULL,'2026-11-17T09:39:25.363Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',7,'job-completed','job_01m7me040010pqb3hbaf',NULL,'{"job_id":"job_01m7me040010pqb3hbaf","status":"completed","error":null}','2026-11-17T09:39:25.365Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',8,'job-started','job_01m7me08kw85ynv3ccxs',NULL,'{"job_id":"job_01m7me08kw85ynv3ccxs","status":"running","error":null,"kind":"message","role":"planner","request":"Make a plan","plan_id":null,"plan_revision":null,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7me08kw85ynv3ccxs","created_at":"2026-11-17T09:39:25.436Z","completed_at":null}','2026-11-17T09:39:25.437Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',9,'message','job_01m7me08kw85ynv3ccxs',NULL,NULL,'2026-11-17T09:39:25.437Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',10,'usage','job_01m7me08kw85ynv3ccxs',NULL,'{"prompt_tokens":2086,"completion_tokens":54,"total_tokens":2140,"estimated":true,"turns":1,"seconds":0.04,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:39:25.610Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',11,'message','job_01m7me08kw85ynv3ccxs',NULL,NULL,'2026-11-17T09:39:25.629Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',12,'plan-update','job_01m7me08kw85ynv3ccxs',NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7me08sx28s9xdsvap","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending","expects":[]}],"estimated_total_time":"","risks":[],"prerequisites":[],"assumptions":[],"revision":1}','2026-11-17T09:39:25.630Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',13,'job-completed','job_01m7me08kw85ynv3ccxs',NULL,'{"job_id":"job_01m7me08kw85ynv3ccxs","status":"completed","error":null}','2026-11-17T09:39:25.631Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',14,'plan-update',NULL,NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7me08sx28s9xdsvap","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending","expects":[]}],"estimated_total_time":"","risks":[],"prerequisites":[],"assumptions":[],"revision":2}','2026-11-17T09:39:25.686Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',15,'job-started','job_01m7me08wen4z4071qq9',NULL,'{"job_id":"job_01m7me08wen4z4071qq9","status":"running","error":null,"kind":"plan","role":"actor","request":"Make a plan","plan_id":"plan_01m7me08sx28s9xdsvap","plan_revision":2,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7me08wen4z4071qq9","created_at":"2026-11-17T09:39:25.710Z","completed_at":null}','2026-11-17T09:39:25.724Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',16,'message','job_01m7me08wen4z4071qq9',NULL,NULL,'2026-11-17T09:39:25.723Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',17,'message',NULL,NULL,NULL,'2026-11-17T09:39:25.725Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',18,'role-changed',NULL,NULL,'{"from":"planner","to":"actor"}','2026-11-17T09:39:25.725Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',19,'task-started','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"task_id":"task_01m7me08x8zd6q905pcw","step_id":"1","role":"actor","description":"Write it down","status":"running","error":null,"result":null,"round":0}','2026-11-17T09:39:25.760Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',20,'plan-update','job_01m7me08wen4z4071qq9',NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7me08sx28s9xdsvap","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"running","expects":[]}],"estimated_total_time":"","risks":[],"prerequisites":[],"assumptions":[],"revision":2}','2026-11-17T09:39:25.761Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',21,'message','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw',NULL,'2026-11-17T09:39:25.762Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',22,'usage','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"prompt_tokens":2700,"completion_tokens":33,"total_tokens":2733,"estimated":true,"turns":1,"seconds":0.062,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:39:25.943Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',23,'message','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw',NULL,'2026-11-17T09:39:25.944Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',24,'tool-call','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"call_id":"call_01m7me093r7wp82m8ygh","tool":"create_file","parameters":{"path":"a.txt","content":"a"}}','2026-11-17T09:39:25.944Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',25,'checkpoint-created','job_01m7me08wen4z4071qq9',NULL,'{"id":"cp_01m7me097v9psc5bsmh2","created_at":"2026-11-17T09:39:26.091Z","label":"Before: Make a plan","tool":null,"step_id":null,"files":[],"uncovered":[]}','2026-11-17T09:39:26.091Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',26,'checkpoint-created','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"id":"cp_01m7me098ype2dykvhm3","created_at":"2026-11-17T09:39:26.148Z","label":"create_file a.txt","tool":"create_file","step_id":"1","files":[{"path":"a.txt","change":"added","added":1,"removed":0}],"uncovered":[]}','2026-11-17T09:39:26.149Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',27,'message','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw',NULL,'2026-11-17T09:39:26.155Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',28,'tool-result','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"call_id":"call_01m7me093r7wp82m8ygh","ok":true,"summary":"created a.txt (1 lines)","error":null}','2026-11-17T09:39:26.156Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',29,'text-delta','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"text":"Written."}','2026-11-17T09:39:26.185Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',30,'usage','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"prompt_tokens":2768,"completion_tokens":2,"total_tokens":2770,"estimated":true,"turns":1,"seconds":0.03,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:39:26.191Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',31,'message','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw',NULL,'2026-11-17T09:39:26.198Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',32,'message','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw',NULL,'2026-11-17T09:39:26.236Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',33,'task-completed','job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','{"task_id":"task_01m7me08x8zd6q905pcw","step_id":"1","role":"actor","description":"Write it down","status":"completed","error":null,"result":"Written.","round":0}','2026-11-17T09:39:26.237Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',34,'plan-update','job_01m7me08wen4z4071qq9',NULL,'{"type":"plan","format_version":"1.0","id":"plan_01m7me08sx28s9xdsvap","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"completed","expects":[]}],"estimated_total_time":"","risks":[],"prerequisites":[],"assumptions":[],"revision":2}','2026-11-17T09:39:26.237Z');
INSERT INTO "events" VALUES('ctx_01m7me03qdsz6vm8wztw',35,'job-completed','job_01m7me08wen4z4071qq9',NULL,'{"job_id":"job_01m7me08wen4z4071qq9","status":"completed","error":null}','2026-11-17T09:39:26.257Z');
INSERT INTO "events" VALUES('ctx_01m7me09g06b5js5cnfj',1,'job-started','job_01m7me09gdmwt6etwgyr',NULL,'{"job_id":"job_01m7me09gdmwt6etwgyr","status":"running","error":null,"kind":"message","role":"actor","request":"Ask me","plan_id":null,"plan_revision":null,"notebook":null,"cell_id":null,"by":"person","card_id":"job_01m7me09gdmwt6etwgyr","created_at":"2026-11-17T09:39:26.349Z","completed_at":null}','2026-11-17T09:39:26.350Z');
INSERT INTO "events" VALUES('ctx_01m7me09g06b5js5cnfj',2,'message','job_01m7me09gdmwt6etwgyr',NULL,NULL,'2026-11-17T09:39:26.349Z');
INSERT INTO "events" VALUES('ctx_01m7me09g06b5js5cnfj',3,'usage','job_01m7me09gdmwt6etwgyr',NULL,'{"prompt_tokens":2373,"completion_tokens":16,"total_tokens":2389,"estimated":true,"turns":1,"seconds":0.049,"cost":null,"currency":"","model":"scripted"}','2026-11-17T09:39:26.534Z');
INSERT INTO "events" VALUES('ctx_01m7me09g06b5js5cnfj',4,'message','job_01m7me09gdmwt6etwgyr',NULL,NULL,'2026-11-17T09:39:26.548Z');
INSERT INTO "events" VALUES('ctx_01m7me09g06b5js5cnfj',5,'question-asked','job_01m7me09gdmwt6etwgyr',NULL,'{"type":"question","format_version":"1.0","question":"Which year?","context":"","severity":"major","options":[],"allow_custom":false,"id":"q_01m7me09p66mnkwmz3am"}','2026-11-17T09:39:26.548Z');
INSERT INTO "events" VALUES('ctx_01m7me09g06b5js5cnfj',6,'job-completed','job_01m7me09gdmwt6etwgyr',NULL,'{"job_id":"job_01m7me09gdmwt6etwgyr","status":"interrupted","error":"The service stopped."}','2026-11-17T09:39:26.865Z');
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
INSERT INTO "inquiries" VALUES('q_01m7me09p66mnkwmz3am','question','ctx_01m7me09g06b5js5cnfj','job_01m7me09gdmwt6etwgyr',NULL,'model','pending','{"type":"question","format_version":"1.0","question":"Which year?","context":"","severity":"major","options":[],"default":null,"allow_custom":false}',NULL,0,'2026-11-17T09:39:26.534Z',NULL);
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
INSERT INTO "jobs" VALUES('job_01m7me040010pqb3hbaf','ctx_01m7me03qdsz6vm8wztw','completed',NULL,'{"prompt_tokens":2091,"completion_tokens":16,"total_tokens":2107,"estimated":true,"turns":1,"seconds":4.596,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:39:20.704Z','2026-11-17T09:39:25.364Z',NULL,'message','planner','What is in there?',NULL,NULL,NULL,NULL,'person','job_01m7me040010pqb3hbaf');
INSERT INTO "jobs" VALUES('job_01m7me08kw85ynv3ccxs','ctx_01m7me03qdsz6vm8wztw','completed',NULL,'{"prompt_tokens":2086,"completion_tokens":54,"total_tokens":2140,"estimated":true,"turns":1,"seconds":0.182,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:39:25.436Z','2026-11-17T09:39:25.631Z',NULL,'message','planner','Make a plan','plan_01m7me08sx28s9xdsvap',1,NULL,NULL,'person','job_01m7me08kw85ynv3ccxs');
INSERT INTO "jobs" VALUES('job_01m7me08wen4z4071qq9','ctx_01m7me03qdsz6vm8wztw','completed',NULL,'{"prompt_tokens":5468,"completion_tokens":35,"total_tokens":5503,"estimated":true,"turns":2,"seconds":0.271,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:39:25.710Z','2026-11-17T09:39:26.238Z',NULL,'plan','actor','Make a plan','plan_01m7me08sx28s9xdsvap',2,NULL,NULL,'person','job_01m7me08wen4z4071qq9');
INSERT INTO "jobs" VALUES('job_01m7me09gdmwt6etwgyr','ctx_01m7me09g06b5js5cnfj','interrupted','The service stopped.','{"prompt_tokens":2373,"completion_tokens":16,"total_tokens":2389,"estimated":true,"turns":1,"seconds":0.17,"cost":null,"currency":"","model":"scripted","limits":{}}','2026-11-17T09:39:26.349Z','2026-11-17T09:39:26.864Z',NULL,'message','actor','Ask me',NULL,NULL,NULL,NULL,'person','job_01m7me09gdmwt6etwgyr');
CREATE TABLE memory_offers (job_id TEXT NOT NULL PRIMARY KEY, context_id TEXT NOT NULL REFERENCES contexts(id) ON DELETE CASCADE, workspace TEXT NOT NULL, status TEXT NOT NULL);
INSERT INTO "memory_offers" VALUES('job_01m7me08wen4z4071qq9','ctx_01m7me03qdsz6vm8wztw','c599d970734bb1c161f2ccb801968bed','offered');
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
INSERT INTO "messages" VALUES('msg_01m7me0400ryvfkhd7tm','ctx_01m7me03qdsz6vm8wztw',2,'job_01m7me040010pqb3hbaf',NULL,'user','planner','text','[{"type":"text","text":"What is in there?"}]','{}','2026-11-17T09:39:20.704Z');
INSERT INTO "messages" VALUES('msg_01m7me08hk2fxznn52s2','ctx_01m7me03qdsz6vm8wztw',6,'job_01m7me040010pqb3hbaf',NULL,'assistant','planner','text','[{"type":"text","text":"It is about größe & ruhe: 42 rows."}]','{"reasoning":"Let me think.","figures":[{"text":"42","value":42.0,"source":null}]}','2026-11-17T09:39:25.363Z');
INSERT INTO "messages" VALUES('msg_01m7me08kxxmk94jh7zs','ctx_01m7me03qdsz6vm8wztw',9,'job_01m7me08kw85ynv3ccxs',NULL,'user','planner','text','[{"type":"text","text":"Make a plan"}]','{}','2026-11-17T09:39:25.437Z');
INSERT INTO "messages" VALUES('msg_01m7me08sxvnj4mbn60v','ctx_01m7me03qdsz6vm8wztw',11,'job_01m7me08kw85ynv3ccxs',NULL,'assistant','planner','plan','[]','{"type":"plan","format_version":"1.0","id":"plan_01m7me08sx28s9xdsvap","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending","expects":[]}],"estimated_total_time":"","risks":[],"prerequisites":[],"assumptions":[]}','2026-11-17T09:39:25.629Z');
INSERT INTO "messages" VALUES('msg_01m7me08wv4j2ekqc6tq','ctx_01m7me03qdsz6vm8wztw',16,'job_01m7me08wen4z4071qq9',NULL,'user',NULL,'text','[{"type":"text","text":"Execute the plan (revision 2)."}]','{"approved_revision":2,"plan_id":"plan_01m7me08sx28s9xdsvap","by":"person"}','2026-11-17T09:39:25.723Z');
INSERT INTO "messages" VALUES('msg_01m7me08wx4tr1m89kbv','ctx_01m7me03qdsz6vm8wztw',17,NULL,NULL,'system','actor','role_change','[{"type":"text","text":"The role is now Actor."}]','{"from":"planner","to":"actor"}','2026-11-17T09:39:25.725Z');
INSERT INTO "messages" VALUES('msg_01m7me08y2rfe77ph7dy','ctx_01m7me03qdsz6vm8wztw',21,'job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','user','actor','task_assignment','[{"type":"text","text":"The plan''s goal: Keep a note\nThe user''s request: Make a plan\nYour task is step 1 of an approved plan.\nThe step: Write it down\nWhy: So that it is kept\nTools it was approved for: create_file\n\nDo just this step. If you need to know more, read, or ask with a question. End with only this JSON object:\n{\"type\": \"result\", \"format_version\": \"1.0\", \"status\": \"done\", \"summary\": \"what you did and found\", \"left_undone\": \"\"}\n`status` is done, partly or failed. The steps after this one read the `summary`; if the step failed, it says why. `left_undone` says what of the step is still to do."}]','{"step":{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"running","expects":[]},"task_id":"task_01m7me08x8zd6q905pcw","role":null,"agent":"","goal":"Keep a note","results":{},"hint":"","findings":""}','2026-11-17T09:39:25.762Z');
INSERT INTO "messages" VALUES('msg_01m7me093r8swxacnn9r','ctx_01m7me03qdsz6vm8wztw',23,'job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','assistant','actor','tool_call','[]','{"call_id":"call_01m7me093r7wp82m8ygh","tool":"create_file","parameters":{"path":"a.txt","content":"a"}}','2026-11-17T09:39:25.944Z');
INSERT INTO "messages" VALUES('msg_01m7me09abhbbgb6tpda','ctx_01m7me03qdsz6vm8wztw',27,'job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','tool','actor','tool_result','[{"type":"text","text":"Created a.txt (1 lines)."}]','{"call_id":"call_01m7me093r7wp82m8ygh","ok":true,"summary":"created a.txt (1 lines)","error":null,"tool":"create_file","facts":{"paths":["a.txt"],"diff":"--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n","added":1,"removed":0}}','2026-11-17T09:39:26.155Z');
INSERT INTO "messages" VALUES('msg_01m7me09bp0meeyj684e','ctx_01m7me03qdsz6vm8wztw',31,'job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','assistant','actor','text','[{"type":"text","text":"Written."}]','{}','2026-11-17T09:39:26.198Z');
INSERT INTO "messages" VALUES('msg_01m7me09cw08pw7c904p','ctx_01m7me03qdsz6vm8wztw',32,'job_01m7me08wen4z4071qq9','task_01m7me08x8zd6q905pcw','assistant','actor','task_result','[{"type":"text","text":"Written."}]','{"status":"completed","step_id":"1","left_undone":"","shortfalls":[]}','2026-11-17T09:39:26.236Z');
INSERT INTO "messages" VALUES('msg_01m7me09gds7ehmdkz6x','ctx_01m7me09g06b5js5cnfj',2,'job_01m7me09gdmwt6etwgyr',NULL,'user','actor','text','[{"type":"text","text":"Ask me"}]','{}','2026-11-17T09:39:26.349Z');
INSERT INTO "messages" VALUES('msg_01m7me09pmpbdh33dt50','ctx_01m7me09g06b5js5cnfj',4,'job_01m7me09gdmwt6etwgyr',NULL,'assistant','actor','question','[{"type":"text","text":"Which year?"}]','{"type":"question","format_version":"1.0","question":"Which year?","context":"","severity":"major","options":[],"allow_custom":false,"id":"q_01m7me09p66mnkwmz3am"}','2026-11-17T09:39:26.548Z');
CREATE TABLE owners (context_id TEXT NOT NULL PRIMARY KEY REFERENCES contexts(id) ON DELETE CASCADE, owner TEXT NOT NULL);
INSERT INTO "owners" VALUES('ctx_01m7me03qdsz6vm8wztw','2e12f71c1da7438cae0cd7cc31c4a729');
INSERT INTO "owners" VALUES('ctx_01m7me09g06b5js5cnfj','2e12f71c1da7438cae0cd7cc31c4a729');
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
INSERT INTO "plans" VALUES('ctx_01m7me03qdsz6vm8wztw','plan_01m7me08sx28s9xdsvap',1,'{"type":"plan","format_version":"1.0","id":"plan_01m7me08sx28s9xdsvap","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"pending","expects":[]}],"estimated_total_time":"","risks":[],"prerequisites":[],"assumptions":[]}','2026-11-17T09:39:25.629Z','{}','Make a plan','job_01m7me08kw85ynv3ccxs','planner','');
INSERT INTO "plans" VALUES('ctx_01m7me03qdsz6vm8wztw','plan_01m7me08sx28s9xdsvap',2,'{"type":"plan","format_version":"1.0","id":"plan_01m7me08sx28s9xdsvap","goal":"Keep a note","steps":[{"id":"1","step_number":1,"action":"Write it down","reason":"So that it is kept","tools_needed":["create_file"],"files":[],"depends_on":[],"estimated_time":"","status":"completed","expects":[]}],"estimated_total_time":"","risks":[],"prerequisites":[],"assumptions":[]}','2026-11-17T09:39:25.685Z','{}','Make a plan',NULL,'person','1 step changed');
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
    , role TEXT NOT NULL DEFAULT 'actor', round INTEGER NOT NULL DEFAULT 0, findings TEXT NOT NULL DEFAULT '');
INSERT INTO "tasks" VALUES('task_01m7me08x8zd6q905pcw','job_01m7me08wen4z4071qq9','ctx_01m7me03qdsz6vm8wztw','1','Write it down','completed','[]','Written.',NULL,'2026-11-17T09:39:25.736Z','2026-11-17T09:39:26.237Z','actor',0,'');
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
CREATE INDEX deleted_rows_by_context ON deleted_rows (context_id);
CREATE INDEX memory_offers_by_workspace ON memory_offers (workspace);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('contexts',3);
COMMIT;
PRAGMA user_version=11;
