import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { SignedPage } from '../../src/daemon/http/signed-page.cases.ts';
import { until } from '../../src/daemon/running.cases.ts';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { requireDeclaredJson } from '../json-outputs.ts';
import { BATON } from '../package/where.ts';
import { runCli } from '../run-cli.ts';
import { FLEET_COMMANDS } from './json-fleet-commands.ts';

/**
 * Every command that takes `--json` runs once and succeeds. `runCli` compares its output with the command's
 * declaration. Commands of a fleet need PostgreSQL: `json-outputs-fleet.long.test.ts`.
 */
const world = new RunScene();
const printed = new Map<string, string>();
const place = (): { env: Record<string, string | undefined>; cwd: string } => ({
  env: { ...world.scene.env, BATON_STATE_DIR: world.stateDir, USER: 'ada' },
  cwd: world.repository,
});

interface Printed {
  readonly id: string;
  readonly token: string;
  readonly text: string;
  readonly phase: string;
  readonly url: string;
  readonly handoffs: readonly { readonly handoff_id: string }[];
  readonly keys: readonly { readonly name: string }[];
  readonly decision_id: string;
}

/** Runs a command with `--json`; its name is the words before the first argument. Returns the first document. */
async function json(
  argv: readonly string[],
  { codes = [0], env = {}, input = '', cwd }: { codes?: number[]; env?: object; input?: string; cwd?: string } = {},
): Promise<Printed> {
  const here = place();
  const at = { env: { ...here.env, ...env }, cwd: cwd ?? here.cwd };
  const { code, out, err } = await runCli([...argv, '--json'], input, at);
  const first = out.split('\n', 1)[0] ?? '';
  expect({ argv, code, first, err }).toMatchObject({
    code: expect.toBeOneOf(codes),
    first: expect.stringMatching(/^\{/),
  });
  const document = JSON.parse(first);
  expect({ argv, document }).not.toHaveProperty('document.error');
  expect({ argv, kept: document.kept }).not.toEqual({ argv, kept: true });
  const name = COMMANDS.map((each) => each.name)
    .filter((each) => each.split(' ').every((word, i) => argv[i] === word))
    .toSorted((a, b) => b.length - a.length)[0];
  printed.set(name ?? '', first);
  return document;
}

const EXAMPLES = join(import.meta.dirname, '../../examples/messages');

function commitIn(folder: string, file: string): string {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { encoding: 'utf8' });
  appendFileSync(join(folder, file), 'one\n');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'one');
  return git('rev-parse', 'HEAD').trim();
}

const waits = (file: string): string => `while [ ! -e ${file} ]; do sleep 0.02; done`;

beforeAll(async () => {
  world.write(`
    sandbox = "none"
    exit_protocol = true
    [ci]
    required = [{ name = "test", run = "true" }]
    [agents]
    coder = { role = "implementer", run = "sh ${world.scene.folder}/coder.sh", on_dead = "fail" }
    alone = { run = "echo started; ${waits('alone-ends')}", on_dead = "done" }
    asker = { run = "true", on_dead = "escalate" }
    [workers]
    w = { tasks = ["T100"], phases = ["IMPLEMENTATION"], run = { agent = "coder" } }
    [pipelines]
    quick = { steps = [{ name = "go", run = "echo hello" }] }
    slow = { steps = [{ name = "go", run = "${waits('never')}" }] }
    breaks = { steps = [{ name = "go", run = "exit 3" }] }
    asks = { steps = [{ name = "ask", run = { agent = "asker" } }] }`);
  const session = join(world.scene.folder, 'session');
  const report = `{ echo "$BATON_TOKEN"; pwd; } > ${session}.draft && mv ${session}.draft ${session}`;
  writeFileSync(join(world.scene.folder, 'coder.sh'), `${report}\n${waits('never')}\n`);
  commitIn(world.repository, 'a.txt');
  await world.start();
});
afterAll(async () => world.end());

it('of the runbook, and of tasks', async () => {
  await json(['validate', 'exit', join(EXAMPLES, 'exit-signal.json')]);
  await json(['validate', 'exit', join(EXAMPLES, 'exit-signal.broken.json')], { codes: [1] });
  await json(['runbook', 'check']);
  await json(['runbook', 'list']);
  await json(['runbook', 'adopt']);
  await json(['runbook', 'rules']);
  for (const id of ['T1', 'T2', 'T3', 'T4', 'T5']) await json(['task', 'add', id, '--title', `Task ${id}`]);
  await json(['task', 'list']);
  await json(['task', 'next']);
  await json(['task', 'show', 'T1']);
  await json(['task', 'brief', 'T1']);
  await json(['task', 'note', 'T1', 'Use the parser']);
  const { token } = await json(['task', 'claim', 'T1', '--as', 'ada', '--role', 'implementer']);
  const asAda = { env: { BATON_TOKEN: token } };
  await json(['task', 'heartbeat', 'T1'], asAda);
  await json(['task', 'update', 'T1', '--status', 'in_progress', '--progress', '40'], asAda);
  await json(['task', 'release', 'T1'], asAda);
  await json(['task', 'waive', 'T1', 'max_files', '--reason', 'a generated file']);
  await json(['task', 'rules', 'T1', '--current']);
  await json(['task', 'claim', 'T5', '--as', 'ada', '--worktree']);
  await json(['task', 'complete', 'T2', '--waive', 'by hand']);
  await json(['task', 'cancel', 'T3', '--reason', 'not now']);
  await json(['task', 'reinstate', 'T3', '--reason', 'now']);
  await json(['task', 'update', 'T4', '--status', 'blocked', '--notes', 'which font?']);
  await json(['task', 'wait', 'T4', 'T2'], { codes: [3] });
  await json(['task', 'unblock', 'T4', '--reason', 'the default one']);
  await json(['task', 'import', '-'], { input: '- [ ] I1: One\n- [x] I2: Two\n' });
  await json(['task', 'import', '-', '--dry-run'], { input: '- [ ] I3: Three\n' });
  expect([...printed.keys()]).toContain('task import');
});

it('of a session', async () => {
  await json(['task', 'add', 'T100', '--title', 'work']);
  const file = join(world.scene.folder, 'session');
  await until(() => existsSync(file), 'the session has its token');
  const [token = '', worktree = ''] = readFileSync(file, 'utf8').split('\n');
  const session = { env: { BATON_TOKEN: token } };
  await json(['mission', 'show'], session);
  const commit = commitIn(worktree, 'a.txt');
  await json(['task', 'diff', 'T100'], session);
  const blank = async (what: string): Promise<string> => (await json([what, 'template'], session)).text;
  const record = JSON.stringify({
    task_id: 'T100',
    branch: 'feature/t100',
    commit_sha: commit,
    tests_run: [],
    summary: 'One file',
    blockers: [],
    files_changed: ['a.txt'],
    related_thought_records: [],
  });
  await blank('thought');
  await json(['thought', 'record', '-'], { ...session, input: record });
  await json(['thought', 'list', 'T100'], session);
  await blank('result');
  const result = readFileSync(join(EXAMPLES, 'result.yaml'), 'utf8')
    .replace('T042', 'T100')
    .replace('src/auth/login.js', 'a.txt');
  await json(['result', 'submit', '-'], { ...session, input: result });
  const [handoff = ''] = /<handoff>[^]*?<\/handoff>/.exec(await blank('handoff')) ?? [];
  const filled = handoff.replaceAll('FILL IN', '1').replace('fill-in/branch', 'feature/t100');
  await json(['handoff', 'send', '-'], { ...session, input: filled.replaceAll(/(?:f111){10}/g, commit) });
  const signal = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: 'IMPLEMENTATION' };
  await json(['emit', 'exit', JSON.stringify({ ...signal, exit_reason: 'completed' })], session);
  await until(async () => (await json(['handoff', 'list'])).handoffs.length > 0, 'the handoff is delivered');
  const [sent] = (await json(['handoff', 'list'])).handoffs;
  await json(['handoff', 'show', sent?.handoff_id ?? '']);
  await json(['task', 'log', 'T100']);
  await until(async () => (await json(['task', 'show', 'T100'])).phase === 'READY_FOR_REVIEW', 'the checks are done');
  const review = await json(['task', 'claim', 'T100', '--as', 'bob', '--role', 'reviewer']);
  await json(['task', 'check'], { env: { BATON_TOKEN: review.token } });
  const approved = JSON.stringify({ ...signal, phase_completed: 'REVIEW', exit_reason: 'completed' });
  await json(['emit', 'exit', approved], { env: { BATON_TOKEN: review.token } });
  await json(['merge', 'T100']);
  expect([...printed.keys()]).toContain('merge');
});

it('of pipelines, agents and decisions', async () => {
  await json(['run', 'quick']);
  await json(['run', 'quick', '--plan']);
  const slow = await json(['run', 'slow', '--detach']);
  await json(['pipeline', 'list']);
  await json(['pipeline', 'show', slow.id]);
  await json(['wait', slow.id, '--timeout', '1ms'], { codes: [1] });
  await json(['status']);
  await json(['status', '--all']);
  await json(['pipeline', 'cancel', slow.id]);
  await json(['pipeline', 'wait', slow.id], { codes: [1] });
  await json(['pipeline', 'retry', slow.id]);
  const broken = await json(['run', 'breaks', '--detach']);
  await json(['pipeline', 'wait', broken.id], { codes: [1] });
  await json(['ack', broken.id]);
  const asks = await json(['run', 'asks', '--detach']);
  const { decision_id: decision } = await json(['pipeline', 'wait', asks.id], { codes: [3] });
  await json(['decision', 'list']);
  await json(['decision', 'show', decision]);
  await json(['decision', 'resolve', decision, '1', '--delay', '60']);
  await json(['decision', 'undo', decision]);
  await json(['pipeline', 'resume', asks.id, '-m', 'again']);
  await json(['agent', 'run', 'alone', '--plan']);
  const { id: alone } = await json(['agent', 'run', 'alone', '--detach']);
  await world.untilRunning(alone);
  await json(['agent', 'list']);
  await json(['agent', 'show', alone]);
  await json(['agent', 'send', alone, 'hello']);
  await until(async () => (await runCli(['agent', 'logs', alone], '', place())).out !== '', 'it has printed a line');
  await json(['agent', 'logs', alone]);
  await json(['emit', 'agent:idle', '--agent', alone]);
  await json(['emit', 'agent:stop', '--agent', alone]);
  await json(['emit', 'agent:signal', '{"kind":"continue"}', '--agent', alone]);
  await json(['agent', 'kill', alone, '--reason', 'enough']);
  await json(['agent', 'wait', alone], { codes: [0, 1] });
  await json(['agent', 'clients']);
  expect([...printed.keys()]).toContain('agent clients');
});

it('of the record and the machine', async () => {
  const proof = join(world.scene.folder, 'T2.proof.json');
  await json(['ledger', 'log']);
  await json(['ledger', 'show', '1']);
  await json(['ledger', 'verify']);
  await json(['ledger', 'seal']);
  await json(['ledger', 'root']);
  expect((await runCli(['ledger', 'prove', 'T2', '-o', proof], '', place())).code).toBe(0);
  await json(['verify', proof]);
  await json(['project', 'list']);
  await json(['costs']);
  await json(['reconcile']);
  await json(['worktree', 'list']);
  await json(['worktree', 'prune']);
  await SignedPage.open((await json(['web'])).url);
  await json(['web', '--no-token']);
  const [key] = (await json(['web', 'keys'])).keys;
  await json(['web', 'keys', 'revoke', key?.name ?? '']);
  await json(['metrics']);
  await json(['store', 'status']);
  await json(['host', 'list']);
  await json(['hooks', 'status']);
  await doctor();
  const cwd = world.scene.makeRepository('other');
  await json(['init', '--yes', '--no-dry-run', '--agent', 'scripted'], { cwd });
  await json(['init', '--undo'], { cwd });
});

/** Runs as a process, because the command may end its own process before the programs that it started have ended. */
async function doctor(): Promise<void> {
  const { env, cwd } = place();
  const child = spawn(process.execPath, [BATON, 'doctor', '--json'], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const out = (await child.stdout.setEncoding('utf8').toArray()).join('');
  await requireDeclaredJson(['doctor', '--json'], out);
  expect(JSON.parse(out).findings.length).toBeGreaterThan(0);
  printed.set('doctor', out);
}

it('covers every command', async () => {
  const takes = await Promise.all(COMMANDS.map(async ({ name, load }) => ({ name, options: (await load()).options })));
  const missing = takes
    .filter(({ options }) => options.some((option) => option.name === 'json'))
    .map(({ name }) => name)
    .filter((name) => !printed.has(name) && !FLEET_COMMANDS.has(name));
  expect(missing).toEqual([]);
});
