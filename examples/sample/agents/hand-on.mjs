import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** How a played agent ends its session: with the forms that Baton has put into `.baton/session`, through the `baton` command. */
const SESSION = '.baton/session';

/**
 * Sends result, record, handoff and exit signal in this order, if the session owes them. A session that judges only
 * fills in the forms here: what a command in its shell sends does not count, so its script sends them as tool calls.
 */
export function handOn(to, summary, values) {
  const judges = process.env.BATON_JUDGE === '1';
  const base = /You began at: ([0-9a-f]{40})/.exec(readTask())[1];
  const head = git('rev-parse', 'HEAD');
  const files = git('diff', '--name-status', '--no-renames', base, head).split('\n').filter(Boolean);
  const owes = /You owe: (.*)/.exec(readTask())[1];
  if (owes.includes('result')) {
    writeJson('result.yaml', { ...readYamlForm(), files_modified: files.map(changed) });
    if (!judges) baton('result', 'submit', `${SESSION}/result.yaml`);
  }
  if (head !== base) {
    const [branch, task_id] = [git('branch', '--show-current'), /^# Task (\S+)/.exec(readTask())[1]];
    const record = { task_id, branch, commit_sha: head, tests_run: ['node --test'], summary, blockers: [] };
    writeJson('record.yaml', {
      ...record,
      files_changed: files.map((line) => line.slice(2)),
      related_thought_records: [],
    });
    baton('thought', 'record', `${SESSION}/record.yaml`);
  }
  const counts = { files_changed: String(files.length), commits_added: git('rev-list', '--count', `${base}..${head}`) };
  const form = readFileSync(`${SESSION}/handoff-to-${to}.xml`, 'utf8');
  writeFileSync(`${SESSION}/handoff.xml`, fill(form, { ...counts, ...values }, summary, head));
  if (judges) return;
  baton('handoff', 'send', `${SESSION}/handoff.xml`);
  const phase_completed = /Phase: (\w+)/.exec(readTask())[1];
  const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed, exit_reason: 'completed' };
  baton('emit', 'exit', JSON.stringify(exit));
}

/** The values of elements and attributes by their names. A value that is still missing gets a description. */
function fill(form, values, summary, head) {
  let text = form.replaceAll(/sha="[^"]*"/g, `sha="${head}"`);
  for (const [name, value] of Object.entries(values)) {
    text = text.replaceAll(new RegExp(`<${name}>[^<]*<`, 'g'), `<${name}>${value}<`);
    text = text.replaceAll(new RegExp(`${name}="[^"]*"`, 'g'), `${name}="${value}"`);
  }
  return text.replaceAll('FILL IN', summary);
}

function readYamlForm() {
  const task_id = /^task_id: "?(T\d+)"?$/m.exec(readFileSync(`${SESSION}/result.yaml`, 'utf8'))[1];
  const timestamp = new Date().toISOString();
  const log = ['did it', 'ran the tests'].map((message) => ({ level: 'info', message, timestamp }));
  return { version: '1', task_id, status: 'completed', files_modified: [], log, completed_at: timestamp };
}

function changed(line) {
  const action = { A: 'created', M: 'modified', D: 'deleted' }[line[0]];
  return { path: line.slice(2), action };
}

/** Reads the task file of the session. */
export function readTask() {
  return existsSync(`${SESSION}/task.md`) ? readFileSync(`${SESSION}/task.md`, 'utf8') : '';
}

function writeJson(name, value) {
  writeFileSync(`${SESSION}/${name}`, JSON.stringify(value, null, 2));
}

export function commit(message) {
  git('add', '--all');
  git('-c', 'user.name=agent', '-c', 'user.email=agent@localhost', 'commit', '--quiet', '--message', message);
}

export function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

/** A call that Baton keeps while its daemon is away counts as sent. Any other refusal ends the agent. */
export function baton(...args) {
  const { status, stdout, stderr } = spawnSync('baton', args, { encoding: 'utf8' });
  process.stdout.write(`${stdout}${stderr}`);
  if (status !== 0 && !stderr.includes('was kept and will be delivered')) process.exit(1);
}
