// Every card in every state worth looking at: what the API would answer for each.

const AT = '2026-11-14T14:02:00Z';
const later = seconds => new Date(Date.parse(AT) + seconds * 1000).toISOString();

const step = (number, action, more = {}) => ({
  id: String(number), step_number: number, action, reason: '', tools_needed: ['run_cell'], files: [],
  depends_on: number > 1 ? [String(number - 1)] : [], estimated_time: '3 s', status: 'pending', ...more
});

const PLAN = {
  type: 'plan', id: 'p', format_version: '1.0', goal: 'Clean sales.csv and chart monthly revenue by region',
  steps: [
    step(1, 'Drop 214 duplicate rows, parse `date`', {
      reason: 'Half the dates are DD/MM, which shifts months', tools_needed: ['edit_cell', 'run_cell'], files: ['analysis.ipynb'], estimated_time: '5 s'
    }),
    step(2, 'Write `sales_clean.parquet`', { reason: 'So that the raw file stays as it is' }),
    step(3, 'Chart revenue by month and region', { reason: 'The answer to the question', tools_needed: ['insert_cell', 'run_cell'], depends_on: ['1', '2'], estimated_time: '4 s' })
  ],
  estimated_total_time: '12 s', risks: ['12 rows have no region; they will be shown as “unknown”.'], prerequisites: []
};
const WIDE = { ...PLAN, steps: PLAN.steps.map(one => (one.id === '2' ? { ...one, depends_on: [] } : one)), prerequisites: ['pyarrow, to write Parquet'] };

let ids = 0;
const message = (role, agent_role, message_type, text, data = {}, more = {}) => ({
  id: `m${++ids}`, job_id: more.task_id ? 'e' : 'j', task_id: null, role, agent_role, message_type, text, content: [{ type: 'text', text }], data, created_at: AT, ...more
});
const call = (tool, parameters, summary, more = {}) => {
  const call_id = `c${++ids}`;
  const { task_id = null, ok = true, text = '', facts = {}, error = null } = more;
  return [
    message('assistant', 'planner', 'tool_call', '', { call_id, tool, parameters }, { task_id }),
    message('tool', 'planner', 'tool_result', text, { call_id, ok, summary, error, facts }, { task_id, created_at: later(2) })
  ];
};

const LOOKED = [
  message('assistant', 'planner', 'text', '', { reasoning: 'The dates look mixed. I should look at a few rows first.' }),
  ...['sales.csv', 'analysis.ipynb', 'regions.csv', 'README.md'].flatMap(path => call('read_file', { path }, `read ${path}`)),
  ...['df', 'regions'].flatMap(name => call('inspect_variable', { name }, `looked at ${name}`))
];
const MADE = [...LOOKED, message('assistant', 'planner', 'plan', '')];

const snapshot = more => ({
  status: 'completed', error: null, role: 'planner', model: 'gpt-5-mini', goal: 'Clean sales.csv and show monthly revenue by region',
  messages: MADE, plan: PLAN, revision: 1, made_at: AT, stale: [], tasks: [], questions: [], permissions: [],
  usage: { prompt_tokens: 1500, completion_tokens: 600, total_tokens: 2100 }, started_at: AT, ended_at: later(9), seq: 0, ...more
});
const card = (more = {}) => ({
  version: 1, kind: 'run', host: 'kernel', context_id: 'ctx', job_id: 'j', role: 'planner', title: 'Clean sales.csv', saved_at: later(10), snapshot: snapshot({ ...jobsOf(snapshot(more)), ...more })
});

const job = (id, more) => ({ id, kind: 'message', role: 'planner', plan_id: null, plan_revision: null, card_id: 'j', status: 'completed', error: null, created_at: AT, completed_at: later(9), ...more });

/** A plan that has tasks was executed by a job of its own, which stands as the snapshot says. */
function jobsOf({ plan, revision, tasks, role, status, error, ended_at }) {
  const of_plan = plan ? { plan_id: plan.id, plan_revision: revision } : {};
  const stands = { role, status, error, completed_at: ended_at };
  const jobs = tasks.length > 0 ? [job('j', of_plan), job('e', { kind: 'plan', ...of_plan, ...stands })] : [job('j', { ...of_plan, ...stands })];
  return { jobs, plan_id: plan?.id ?? null };
}

const statuses = (plan, ...states) => ({ ...plan, steps: plan.steps.map((one, at) => ({ ...one, status: states[at] ?? 'pending' })) });
const task = (number, status, more = {}) => ({
  id: `t${number}`, job_id: 'e', step_id: String(number), role: 'actor', description: '', status, result: null, error: null, created_at: later(number * 5), completed_at: status === 'completed' ? later(number * 5 + 4.8) : null, ...more
});
const DIFF = `--- analysis.ipynb
+++ analysis.ipynb
@@ -1,2 +1,3 @@
 import pandas as pd
-df = pd.read_csv("sales.csv")
+df = pd.read_csv("sales.csv", parse_dates=["date"], dayfirst=True)
+df = df.drop_duplicates()
`;
const STEP_1 = [
  message('user', 'actor', 'task_assignment', 'Step 1', {}, { task_id: 't1', created_at: later(5) }),
  message('user', 'actor', 'task_assignment', 'Step 2', {}, { task_id: 't2', created_at: later(10) }),
  ...call('edit_cell', { path: 'analysis.ipynb', cell: 3 }, 'changed cell 3 of analysis.ipynb', { task_id: 't1', facts: { diff: DIFF } }),
  ...call('run_cell', { path: 'analysis.ipynb', cell: 3 }, 'ran cell 3: 3,120 dates fixed', { task_id: 't1', text: '3120 dates fixed' }),
  message('assistant', 'actor', 'text', '214 rows dropped, 3,120 dates fixed.', {}, { task_id: 't1' })
];
const RUNNING = {
  status: 'running', role: 'actor', ended_at: null, plan: statuses(PLAN, 'completed', 'running'),
  tasks: [task(1, 'completed', { result: '214 rows dropped, 3,120 dates fixed' }), task(2, 'running')], messages: [...MADE, ...STEP_1]
};
const PERMISSION = {
  id: 'p1', context_id: 'ctx', job_id: 'e', task_id: 't2', agent_role: 'actor', tool: 'execute_command', parameters: { command: 'pip install pyarrow' },
  resource: 'pip install pyarrow', risk: 'medium', why: ['Writing Parquet needs it.', 'Installs packages into this environment; network.'],
  scopes: ['once', 'session', 'workspace', 'global'], rules: ['execute_command(pip install pyarrow)'],
  shown: { kind: 'command', text: 'pip install pyarrow', complete: true }, uncovered: [], status: 'pending', created_at: AT
};
const QUESTION = {
  id: 'q1', job_id: 'j', task_id: null, question: '12 rows have no region. What should the chart do with them?', context: '', severity: 'minor',
  options: [
    { label: 'Show as “unknown”', value: 'unknown', description: 'Keeps the totals right' },
    { label: 'Leave them out', value: 'out', description: 'Totals will be 0.4 % lower' }
  ],
  default: 'unknown', allow_custom: true
};
const ENDED = statuses(PLAN, 'completed', 'completed', 'completed');
const AUDIT = {
  steps: ENDED.steps.map((one, at) => ({
    id: one.id, number: one.step_number, action: one.action, status: 'completed',
    actual: { tools: [{ tool: 'run_cell', calls: 1, failed: 0 }], files: [], seconds: 4.8 },
    deviations: at === 1 ? [{ kind: 'extra_tool', what: 'also ran: pip install pyarrow (allowed by you)' }] : []
  }))
};
const CHECKPOINTS = [
  { id: 'k1', job_id: 'e', created_at: later(4), label: 'before step 1', tool: 'edit_cell', step_id: '1', files: ['analysis.ipynb'], uncovered: [] },
  { id: 'k2', job_id: 'e', created_at: later(9), label: 'before step 2', tool: 'run_cell', step_id: '2', files: [], uncovered: [] }
];
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</scr' + 'ipt> \u202Etxt.exe\u202C a\u200bb \u001b[31mred';

const REPLY = `Here is **what I found**:

- dates are mixed, see \`sales.csv\`
- 214 rows are there twice

\`\`\`python
df = df.drop_duplicates()
\`\`\`

| region | rows |
| --- | --- |
| north | 3120 |

More at [the docs](https://pandas.pydata.org).`;

const event = (seq, type, data, more = {}) => ({ seq, type, context_id: 'ctx', job_id: 'j', task_id: null, created_at: later(seq), data, ...more });

const field = (name, type, more = {}) => ({ name, type, missing: 0, distinct: null, low: null, high: null, total: null, values: [], zone: null, ...more });
const table = (rows, fields) => ({ rows, columns: fields.length, kind: 'pandas.DataFrame', fields, duplicates: 0, sampled: false });
const ORDERS = [field('customer_id', 'int64', { distinct: 3020 }), field('revenue', 'float64', { low: 0.5, high: 980 })];
const JOINED = call('run_cell', { cell_id: 'c4' }, 'ran cell 4 of analysis.ipynb', { text: '12612' });
const EFFECT = {
  of: 'orders', call_id: JOINED[0].data.call_id, cell_id: 'c4', line: 'orders: 12,431 → 12,612 rows (+181), +1 column segment, segment missing 0 → 214',
  before: table(12431, ORDERS), after: table(12612, [...ORDERS, field('segment', 'str', { missing: 214, values: ['business', 'private'] })]),
  warnings: [{ code: 'join_multiplied_rows', message: 'The join multiplied rows. 18 keys appear twice in customers; 181 rows were added.', line: 2, evidence: {}, advice: 'Remove the repeated keys of customers first, or add validate="many_to_one".' }]
};
const RESULT = message('assistant', 'actor', 'text', 'Business customers bring 61.4 % of revenue with 2,204 orders; returns fell by 12 %.', {
  figures: [
    { text: '61.4 %', value: 0.614, source: { cell_id: 'c4', call_id: null, stale: false } },
    { text: '2,204', value: 2204, source: { cell_id: null, call_id: EFFECT.call_id, stale: false } },
    { text: '12 %', value: 0.12, source: null }
  ],
  assumptions: [
    { text: 'Dates are day/month/year', status: 'open', correction: '' },
    { text: 'Orders without a customer are left out (214)', status: 'confirmed', correction: '' },
    { text: 'Refunds count', status: 'corrected', correction: 'They do not.' }
  ]
});

export const CARDS = {
  'data effects': { card: card({ plan: null, role: 'actor', messages: [...JOINED, RESULT], effects: [EFFECT] }), click: ['Pin…'] },
  'plan ready': { card: card() },
  'plan out of date, side by side': { card: card({ plan: WIDE, stale: ['sales.csv', 'regions.csv'], revision: 3 }) },
  'plan being edited': { card: card({ plan: WIDE }), click: ['Edit steps'] },
  'thinking': {
    card: card({ status: 'running', plan: null, messages: LOOKED, ended_at: null }),
    events: [event(1, 'reasoning-delta', { text: 'Let me see how the months come out.' }), event(2, 'text-delta', { text: 'I will start with the dates.\n\nThen the ' })]
  },
  'answer': { card: card({ plan: null, role: 'actor', messages: [...LOOKED, message('assistant', 'actor', 'text', REPLY)] }) },
  'running': { card: card(RUNNING) },
  'running, tool output': {
    card: card(RUNNING),
    events: [
      event(1, 'tool-call', { call_id: 'live', tool: 'execute_command', parameters: { command: 'make data' } }),
      event(2, 'notice', { code: 'tool-output', call_id: 'live', text: 'reading 1 of 3\nreading 2 of 3\n' })
    ]
  },
  'permission': { card: card({ ...RUNNING, permissions: [PERMISSION] }) },
  'permissions together': {
    card: card({
      ...RUNNING,
      permissions: [PERMISSION, { ...PERMISSION, id: 'p2', tool: 'update_file', resource: 'analysis.py', risk: 'low', shown: { kind: 'diff', text: DIFF, complete: true }, scopes: ['once', 'session'], rules: [], uncovered: ['data/big.bin is too large for a checkpoint'] }]
    })
  },
  'question': { card: card({ ...RUNNING, questions: [QUESTION] }) },
  'completed': { card: card({ role: 'actor', plan: ENDED, tasks: [1, 2, 3].map(number => task(number, 'completed')), messages: [...MADE, ...STEP_1], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 5800, cost: 0.0123 } }) },
  'rolling back': { card: card({ role: 'actor', plan: ENDED, tasks: [1, 2, 3].map(number => task(number, 'completed')), messages: [...MADE, ...STEP_1] }), click: ['Roll back…'] },
  'changes': { card: card({ role: 'actor', plan: ENDED, tasks: [1, 2, 3].map(number => task(number, 'completed')) }), click: ['Changes'] },
  'failed step': {
    card: card({ status: 'failed', error: 'Step 2 failed: no space left on the device.', role: 'actor', plan: statuses(PLAN, 'completed', 'failed'), tasks: [task(1, 'completed'), task(2, 'failed', { error: 'OSError: [Errno 28] No space left on device' })] })
  },
  'failed at once': { card: card({ status: 'failed', plan: null, messages: [], error: 'The model server does not answer. Check that it runs at http://localhost:11434, then try again.' }) },
  'run before': { card: { ...card(), again: { content: 'Clean sales.csv', role: 'planner' } } },
  'stopped': { card: card({ status: 'cancelled', plan: null, messages: LOOKED }) },
  'review': {
    card: card({
      role: 'reviewer', plan: null,
      messages: [message('assistant', 'reviewer', 'review', '', { summary: 'Sound, but months shift where the day is above 12.', verdict: 'request_changes', findings: [{ file: 'clean.py', line: 12, severity: 'critical', comment: '`parse_dates` guesses the order of day and month.', suggestion: 'Pass `dayfirst=True`.' }, { file: 'clean.py', line: null, severity: 'minor', comment: 'No test reads this.', suggestion: '' }] })]
    })
  },
  'sixty steps': { card: card({ plan: { ...PLAN, steps: Array.from({ length: 60 }, (_, at) => step(at + 1, `Convert month ${at + 1} of the archive`)) } }) },
  'hostile': {
    card: card({
      goal: HOSTILE, model: HOSTILE, plan: { ...PLAN, goal: HOSTILE, steps: [step(1, HOSTILE, { reason: HOSTILE, tools_needed: [HOSTILE], files: [HOSTILE], estimated_time: HOSTILE })], risks: [HOSTILE] },
      messages: [message('assistant', 'planner', 'text', HOSTILE), message('user', null, 'text', 'a'.repeat(3000)), ...call(HOSTILE, { path: HOSTILE }, HOSTILE)],
      status: 'running', permissions: [{ ...PERMISSION, resource: HOSTILE, why: [HOSTILE], shown: { kind: 'command', text: HOSTILE, complete: false }, rules: [HOSTILE] }], questions: [{ ...QUESTION, question: HOSTILE, context: HOSTILE, options: [{ label: HOSTILE, value: 'x', description: HOSTILE }] }]
    })
  },
  'record': { card: card({ left_out: 12, permissions: [PERMISSION] }), unknown: true },
  'reconnecting': { card: card(RUNNING), silent: true }
};

export const ANSWERS = {
  'GET roles': { items: [
    { name: 'planner', label: 'Planner', icon: 'search', colour: 'blue', description: '', permissions: [], tools: [], delegates_to: [] },
    { name: 'actor', label: 'Actor', icon: 'bolt', colour: 'green', description: '', permissions: [], tools: [], delegates_to: [] },
    { name: 'commander', label: 'Commander', icon: 'compass', colour: 'purple', description: '', permissions: [], tools: [], delegates_to: [] },
    { name: 'designer', label: 'Designer', icon: 'pencil', colour: 'orange', description: '', permissions: [], tools: [], delegates_to: [] },
    { name: 'reviewer', label: 'Reviewer', icon: 'eye', colour: 'teal', description: '', permissions: [], tools: [], delegates_to: [] },
    { name: 'tester', label: 'Tester', icon: 'flask', colour: 'pink', description: '', permissions: [], tools: [], delegates_to: [] }
  ], next: null },
  'GET context/ctx/expectations': { items: [], next: null },
  'GET context/ctx/audit?job_id=j': AUDIT,
  'GET context/ctx/checkpoints': { items: CHECKPOINTS, next: null },
  'GET checkpoints/k1/diff?scope=card': { items: [{ path: 'analysis.ipynb', status: 'changed', diff: DIFF }, { path: 'sales_clean.parquet', status: 'added', diff: null, why: 'binary, 3 MB' }], next: null },
  'POST checkpoints/k1/rollback': { restored: ['analysis.ipynb'], removed: ['sales_clean.parquet'], skipped: [{ path: 'notes.md', why: 'you changed it after that', can_overwrite: true }, { path: 'report.html', why: 'another conversation changed it after that', can_overwrite: true }, { path: 'archive.zip', why: 'its content was not kept: larger than checkpoint_file_limit (2 GiB)' }], checkpoint_id: 'k9' }
};
