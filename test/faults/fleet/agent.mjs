import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The agent of a fleet: writes marks outside Baton when it starts and while it works, commits once, works until a file
 * exists, and hands on. Marks contain the machine's monotonic clock, which all hosts of a test share.
 */
const { MARKS: marks = '', FLEET_HOST: host = '', BATON_AGENT_ID: agent = '' } = process.env;
const mark = (what) => {
  const ms = Number(process.hrtime.bigint() / 1_000_000n);
  appendFileSync(`${marks}/marks`, `${what} ${agent} ${host} ${ms}\n`);
};
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();

mark('start');
const [branch, task_id] = [
  git('branch', '--show-current'),
  /^# Task (\S+)/.exec(readFileSync('.baton/session/task.md', 'utf8'))[1],
];
// The previous session's pushed work must be here.
const earlier = git('log', '--format=%s')
  .split('\n')
  .filter((line) => line.startsWith('work ')).length;
mark(`found:${earlier}`);
const file = `work-${agent}.txt`;
writeFileSync(file, `${agent}\n`);
git('add', '--all');
git('-c', 'user.name=agent', '-c', 'user.email=agent@localhost', 'commit', '--quiet', '--message', `work ${agent}`);
mark('committed');
for (let n = 0; !existsSync(`${marks}/go`); n += 1) {
  await pause(25);
  if (n % 4 === 0) mark('beat');
}
const record = { task_id, branch, commit_sha: git('rev-parse', 'HEAD'), tests_run: ['none'], summary: 'Done.' };
const lists = { blockers: [], files_changed: [file], related_thought_records: [] };
const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: 'IMPLEMENTATION' };
const said =
  (await say('record', ['thought', 'record', '-'], JSON.stringify({ ...record, ...lists }))) &&
  (await say('exit', ['emit', 'exit', JSON.stringify({ ...exit, exit_reason: 'completed' })]));
if (said) mark('acknowledged');

/**
 * Repeats a call until it is recorded or kept in the outbox, which counts as well; false if it is refused permanently.
 */
async function say(what, args, input = '') {
  for (let tries = 1; tries <= 60; tries += 1) {
    const { status, stdout, stderr } = spawnSync('baton', args, { encoding: 'utf8', input });
    if (status === 0 || /\bkept\b/.test(stderr)) return true;
    appendFileSync(`${marks}/log`, `${host} ${agent} ${what} ${status} ${stdout} ${stderr}\n`);
    // An ended claim stays ended.
    if (/stale|ended/.test(stderr)) {
      mark('refused');
      return false;
    }
    await pause(250);
  }
  mark('gave-up');
  return false;
}
