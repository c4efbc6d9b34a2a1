import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../src/api/client/connect.ts';
import { readDaemonRecord } from '../src/api/state-folder.ts';
import { main } from '../src/cli/main.ts';
import { processIo } from '../src/cli/process-io.ts';
import { followEntries, readHeadSeq } from '../src/cli/run/follow-entries.ts';
import { WorkflowStory } from '../src/cli/run/story.ts';
import { findProcessesByMark } from '../src/effects/processes/supervised.ts';
import { gitEnvironment } from '../src/git/run-git.ts';
import { fieldsOf, textOf } from '../src/protocol/shape/read-unknown.ts';
import { DemoScreen } from './demo-screen.ts';

/**
 * `npm start`: the whole workflow, from a request to a merge, on a small real repository with scripted agents in place of models. It
 * needs no account and no network, and leaves only the folder that it names.
 */
const TITLE = 'Read durations back';
const ID = 'W-00001';
const began = performance.now();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-demo-')));
const repository = join(folder, 'sample');
const io = processIo();
const env: Record<string, string | undefined> = {
  ...process.env,
  // The demo's commits are not signed, and the user's hooks do not run for them.
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  BATON_STATE_DIR: join(folder, 'state'),
  BATON_TOKEN: undefined,
  BATON_URL: undefined,
  AGENT_EXIT_PROTOCOL_ENABLED: undefined,
};
const client = createClient({ env, projectPath: repository, reachMs: 60_000 });
const leaving = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void leave());
// A second Ctrl-C or a closed pipe ends the demo at once: there is only time to stop the daemon.
process.once('exit', endDaemon);

try {
  makeRepository();
  io.out(`A sample repository, and everything else that this leaves behind: ${folder}\n\n`);
  await baton('run', 'issue', TITLE, '--plan');
  io.out(`\n$ baton run issue "${TITLE}"\n`);
  await walk();
  io.out('\n');
  shell('git log --oneline');
  await baton('handoff', 'list', ID);
  await sealed();
  await baton('ledger', 'root');
  await baton('ledger', 'verify');
  await baton('ledger', 'prove', ID, '-o', join(folder, `${ID}.proof.json`));
  await baton('verify', join(folder, `${ID}.proof.json`));
  await baton('ledger', 'export', '-o', join(folder, 'ledger.ndjson'));
  await baton('web', '--no-token');
  io.out(
    `\nFrom a request to a merge in ${Math.round((performance.now() - began) / 1000)} s. The daemon ends here, and the page with it. ` +
      `To bring both back and look around, until you delete ${folder}:\n` +
      `  export BATON_STATE_DIR=${join(folder, 'state')}\n  cd ${repository}\n` +
      `  node ${join(import.meta.dirname, '..', 'bin', 'baton.cjs')} web\n`,
  );
} finally {
  await client.stop();
  client.close();
}

/** The user interrupts the demo: agents and daemon end with it. */
async function leave(): Promise<void> {
  if (leaving.signal.aborted) process.exit(130);
  leaving.abort();
  await client.call('task_cancel', { task_id: ID, reason: 'the demo was interrupted' });
  await until(agentsGone);
  await client.stop();
  await until(nobodyRuns);
  io.out(`\nInterrupted. Nothing runs any more; what there was by then is in ${folder}\n`);
  process.exit(130);
}

/** Never resolves once the demo is interrupted: any further call would start the daemon again. */
async function unlessLeaving(): Promise<void> {
  if (leaving.signal.aborted) await new Promise(() => {});
}

/** An agent takes a moment to end. */
async function agentsGone(): Promise<boolean> {
  const status = await client.call('status_get', {});
  return !status.ok || status.result.agents.length === 0;
}

/** So does its supervisor. */
function nobodyRuns(): boolean {
  return findProcessesByMark({ name: 'BATON_STATE_DIR', value: join(folder, 'state') }).length === 0;
}

/** For at most ten seconds, because the user waits for the prompt. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200 && !(await holds()); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
}

function endDaemon(): void {
  const { pid } = readDaemonRecord(join(folder, 'state')) ?? {};
  if (pid !== undefined) process.kill(pid, 'SIGTERM');
}

function makeRepository(): void {
  cpSync(join(import.meta.dirname, '..', 'examples', 'sample'), repository, { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git(
    '-c',
    'user.name=sample',
    '-c',
    'user.email=sample@localhost',
    'commit',
    '--quiet',
    '-m',
    'A library of durations',
  );
}

/** Starts the workflow and shows it until it is closed. */
async function walk(): Promise<void> {
  const after = await readHeadSeq(client);
  const started = await client.call('run_start', { name: 'issue', args: [TITLE] });
  if (!started.ok) throw new Error(started.error.message);
  const story = new WorkflowStory(ID);
  const screen = new DemoScreen(io);
  const patience = AbortSignal.any([AbortSignal.timeout(300_000), leaving.signal]);
  const implementers = new Set<string>();
  for await (const { type, data } of followEntries(client, { after, signal: patience })) {
    screen.note(type, data);
    if (type === 'AgentRequested' && textOf(fieldsOf(data['plan'])['name']) === 'implementer')
      implementers.add(textOf(data['agent_id']));
    const line = story.describe(type, data);
    if (type === 'SessionMeasured')
      for (const block of blocksOf(implementers, textOf(data['session_id'])))
        screen.say(`    implementer tried to stop, and was told: ${block}`);
    if (line !== undefined) screen.say(line);
    if (story.progress.kind === 'over') break;
    if (story.progress.kind === 'waiting') throw new Error('the demo waits for a person, which it should not');
  }
  await unlessLeaving();
  screen.end();
  if (story.progress.kind !== 'over') throw new Error('the demo did not come to its end');
}

/** The stop hook's reason is only in the agent's conversation, not in the ledger. */
function blocksOf(implementers: ReadonlySet<string>, id: string): string[] {
  if (!implementers.has(id)) return [];
  const kept = readFileSync(join(folder, 'state', 'agents', id, `scripted-${id}.json`), 'utf8');
  const { messages } = JSON.parse(kept) as { messages: { text: string }[] }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return messages.flatMap(({ text }) => (text.startsWith('Stop hook feedback:') ? [text.split('\n')[1] ?? ''] : []));
}

/** The seal follows a moment after the end of the workflow. */
async function sealed(): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await unlessLeaving();
    const root = await client.call('merkle_root', {});
    if (root.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the ledger was not sealed');
}

async function baton(...args: string[]): Promise<void> {
  await unlessLeaving();
  io.out(`\n$ baton ${args.map((arg) => (arg.includes(' ') ? JSON.stringify(arg) : arg)).join(' ')}\n`);
  const code = await main(args, { ...io, env, cwd: repository, err: (text) => io.out(text) });
  await unlessLeaving();
  if (code !== 0) throw new Error(`baton ${args[0]} ended with ${code}`);
}

function shell(command: string): void {
  io.out(`$ ${command}\n`);
  io.out(execFileSync('/bin/sh', ['-c', command], { cwd: repository, encoding: 'utf8' }));
}

function git(...args: string[]): void {
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  execFileSync('git', ['-C', repository, ...args], { stdio: [...stdio], env: gitEnvironment(env) });
}

writeFileSync(
  join(folder, 'README.txt'),
  'Made by the demo of Baton. sample: the repository; state: what the daemon kept; ledger.ndjson: the whole record.\n',
);
