import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../src/api/client/connect.ts';
import { readDaemonRecord } from '../src/api/state-folder.ts';
import { main } from '../src/cli/main.ts';
import { processIo } from '../src/cli/process-io.ts';
import { findProcessesByMark } from '../src/effects/processes/supervised.ts';
import { gitEnvironment } from '../src/git/run-git.ts';

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
  await baton('run', 'issue', TITLE);
  io.out('\n');
  for (const block of await readBlocks()) io.out(`The implementer tried to stop, and was told: ${block}\n`);
  io.out('\n');
  shell('git log --oneline');
  await baton('task', 'show', ID);
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

/** The stop hook's reason is only in the agent's conversation, not in the ledger. */
async function readBlocks(): Promise<string[]> {
  const view = await client.call('task_view', { task_id: ID });
  if (!view.ok) throw new Error(view.error.message);
  return view.result.sessions.flatMap(({ agent, agent_id: id }) => {
    if (agent !== 'implementer' || id === null) return [];
    const kept = readFileSync(join(folder, 'state', 'agents', id, `kept/scripted-${id}.json`), 'utf8');
    const { messages } = JSON.parse(kept) as { messages: { text: string }[] }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return messages.flatMap(({ text }) => (text.startsWith('Stop hook feedback:') ? [text.split('\n')[1] ?? ''] : []));
  });
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
  const err = (text: string): void => {
    // Whoever leaves is told what became of the demo, and not that a run continues.
    if (!leaving.signal.aborted) io.out(text);
  };
  const code = await main(args, { ...io, env, cwd: repository, err });
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
