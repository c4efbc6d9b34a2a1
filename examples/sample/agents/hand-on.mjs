import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** How a played agent ends its session: with the forms that Baton has put into `.baton/session`, through the `baton` command. */
const SESSION = '.baton/session';

/** Result, record, handoff, exit: in this order, as far as they are owed. */
export function handOn(to, summary, values) {
  const base = /You began at: ([0-9a-f]{40})/.exec(readTask())[1];
  const head = git('rev-parse', 'HEAD');
  const files = git('diff', '--name-status', '--no-renames', base, head).split('\n').filter(Boolean);
  const owes = /You owe: (.*)/.exec(readTask())[1];
  if (owes.includes('result')) {
    writeJson('result.yaml', { ...readYamlForm(), files_modified: files.map(changed) });
    baton('result', 'submit', `${SESSION}/result.yaml`);
  }
  if (head !== base) {
    const [branch, task_id] = [git('branch', '--show-current'), /^# ([^:]+):/.exec(readTask())[1]];
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
  baton('handoff', 'send', `${SESSION}/handoff.xml`);
  const phase_completed = /Phase: (\w+)/.exec(readTask())[1];
  const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed, exit_reason: 'completed' };
  baton('emit', 'exit', JSON.stringify(exit));
}

/** The values of elements and attributes by their names; whatever is still open says what it is about. */
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

/** What Baton tells the session about its task. */
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

/** What Baton keeps while its daemon is away is as good as said; anything else that is refused is a reason to stop. */
export function baton(...args) {
  const { status, stdout, stderr } = spawnSync('baton', args, { encoding: 'utf8' });
  process.stdout.write(`${stdout}${stderr}`);
  if (status !== 0 && !stderr.includes('was kept and will be delivered')) process.exit(1);
}
