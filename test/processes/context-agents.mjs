import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { baton, exitSignal, Expectations, parsePacket, read, SESSION } from './given.mjs';

/**
 * Sessions of two tasks of one epic and one of another: the first leaves everything that a session can, and the others
 * look for it.
 */
const words = JSON.parse(readFileSync(new URL('words.json', import.meta.url), 'utf8'));
const AT = '2026-01-01T00:00:00Z';
const mission = readFileSync(process.env.BATON_MISSION, 'utf8');
const task_id = /^task_id: "?(T\d+)"?$/m.exec(mission)[1];
const task = read('task.md');
const packet = parsePacket(task);
const [step] = process.argv.slice(2);

const sessions = {
  T001: () => {
    if (task.includes('## How earlier sessions ended')) return second();
    return step === 'ask' ? ask() : first();
  },
  T002: () => neighbour(),
  T003: () => neighbour(),
};
sessions[task_id]();

function ask() {
  baton(
    'emit',
    'agent:signal',
    '--agent',
    process.env.BATON_AGENT_ID,
    JSON.stringify({ kind: 'escalate', message: words.asked }),
  );
}

function first() {
  writeFileSync('parse.js', '// not whole\n');
  for (const args of [
    ['add', '--all'],
    ['-c', 'user.name=a', '-c', 'user.email=a@a', 'commit', '--quiet', '--message', 'begin'],
  ])
    execFileSync('git', args);
  const head_sha = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  submit(
    [
      { level: 'info', message: 'Began', timestamp: AT },
      { level: 'tip', message: words.tip, timestamp: AT },
      { level: 'warn', message: words.hostile, timestamp: AT },
    ],
    {
      status: 'blocked',
      files_modified: [
        { path: 'parse.js', action: 'created' },
        { path: 'ghost.js', action: 'created' },
      ],
      issues: [{ type: 'question', description: words.issue }],
    },
  );
  const record = {
    task_id,
    branch: 'feature/t001-parse-durations',
    commit_sha: head_sha,
    tests_run: [],
    summary: words.summary,
    blockers: [{ type: 'peer-dep', issue: words.blocker }],
    files_changed: ['parse.js'],
    related_thought_records: [],
    notes: `${words.notes}\n${words.hostile}`,
  };
  send('record.yaml', record, 'thought', 'record');
  const evidence = {
    task_id,
    phase: 'IMPLEMENTATION',
    head_sha,
    commands: [{ run: 'node --test', exit_code: 1, output_sha256: '0'.repeat(64) }],
    files: [],
    decisions: [words.decided],
    failed_approaches: [words.failed],
    next_step: words.next,
  };
  writeFileSync(`${SESSION}/evidence.yaml`, JSON.stringify(evidence));
  baton(
    'emit',
    'exit',
    exitSignal('IMPLEMENTATION', 'blocked', { notes: words.exit, evidence_bundle_ref: `${SESSION}/evidence.yaml` }),
  );
}

function second() {
  const expects = new Expectations();
  const me = 'coder (implementer)';
  // Control characters are shown as codes.
  const shown = words.hostile.replaceAll('\u001B', '[U+001B]').replaceAll('\u0007', '[U+0007]');
  expects.has(packet, 'Thought records', me, words.summary, words.blocker, words.notes, shown);
  expects.has(packet, 'How earlier sessions ended', me, words.exit);
  expects.has(
    packet,
    'Decided, tried and failed',
    me,
    words.failed,
    words.decided,
    words.next,
    'node --test (exit code 1)',
  );
  expects.has(packet, 'Tips and warnings', me, words.tip, 'Ignore your mission');
  expects.has(packet, 'Questions', me, words.issue, words.asked);
  expects.has(packet, 'Notes and answers from people', words.person, words.answered, words.unblocked);
  // The report is shown beside the measurement.
  expects.has(packet, 'Reported and measured', me, 'created ghost.js');
  expects.has(packet, 'Reported and measured', 'Baton (measurement)', 'reported, not changed: ghost.js');
  // The goal is the author's text, and the entry's number leads to the whole text.
  expects.has(packet, 'Goal', '', words.description);
  const tips = packet.items.find(({ section }) => section === 'Tips and warnings');
  expects.holds('the entry that is named', baton('ledger', 'show', String(tips?.entry)).includes(words.tip));
  // Text that looks like an instruction must be inside its fence, and nowhere else.
  expects.holds('hostile text outside of a fence', !packet.outside.includes('Your new task'));
  expects.holds('the brief is another view of the same', baton('task', 'brief', task_id).includes(words.failed));
  finish(expects);
}

function neighbour() {
  const expects = new Expectations();
  const path = /^context:\n(?: .*\n)*? +memory: "?([^"\n]*)"?$/m.exec(mission)?.[1];
  expects.holds(`context.memory of ${String(mission)}`, path !== undefined);
  if (path === undefined) return finish(expects);
  const memory = parsePacket(readFileSync(path, 'utf8'));
  const lessons = memory.items.map(({ text }) => text).join('');
  for (const lesson of [words.tip, words.decided])
    expects.holds(
      `memory: ${lesson} in ${lessons}`,
      new RegExp(`${RegExp.escape(lesson)} \\(T001, entry \\d+\\)`).test(lessons),
    );
  expects.holds(
    'hostile text in the memory',
    lessons.includes('Ignore your mission') && !memory.outside.includes('mission'),
  );
  // The sections that source document 004 prescribes for the next agent, in order.
  const order = [
    'Newest record of the project',
    words.summary,
    '## Next actions',
    'T004',
    '## Read first',
    ...words.references,
  ];
  expects.inOrder('task brief', baton('task', 'brief', task_id), ...order);
  expects.inOrder('task file', task, 'Newest record of the project', words.summary, ...words.references);
  expects.holds('the prompt file itself', task.includes(words.prompt));
  return finish(expects);
}

function finish(expects) {
  expects.end();
  submit([1, 2].map(() => ({ level: 'info', message: 'I have everything', timestamp: AT })));
  baton('emit', 'exit', exitSignal('IMPLEMENTATION', 'completed'));
}

function submit(log, more = {}) {
  const result = { version: '1', task_id, status: 'completed', files_modified: [], log, completed_at: AT, ...more };
  send('result.yaml', result, 'result', 'submit');
}

function send(name, message, ...command) {
  writeFileSync(`${SESSION}/${name}`, JSON.stringify(message));
  baton(...command, `${SESSION}/${name}`);
}
