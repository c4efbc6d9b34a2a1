import { execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Asked } from '../models/script.ts';
import { BATON } from '../package/where.ts';
import { roleIn } from './played-model.ts';
import type { World } from './world.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The library of durations, with a runbook that uses only built-in agents. */
export function makeRepository({ project, home }: World, runbook: string): void {
  cpSync(join(ROOT, 'examples/sample'), project, { recursive: true });
  rmSync(join(project, 'agents'), { recursive: true });
  writeFileSync(join(project, 'baton.toml'), runbook);
  writeFileSync(join(home, '.gitconfig'), '[user]\nname = Ada\nemail = ada@localhost\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', project, ...args], { env: { HOME: home, PATH: '/usr/bin:/bin' } });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A library of durations');
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
}

/** Runs `baton` in a user's shell; it starts the daemon by itself. `uid`: another user, only possible as root. */
export async function runBaton(
  { project, stateDir }: World,
  shell: Readonly<Record<string, string>>,
  args: readonly string[],
  uid?: number,
): Promise<Ran> {
  const env = { ...shell, PATH: `${dirname(process.execPath)}:${shell['PATH']}`, BATON_STATE_DIR: stateDir };
  const child = spawn(process.execPath, [BATON, ...args], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 200_000,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out };
}

/** Makes another user the owner of everything in a folder. */
export function giveTo(uid: number, folder: string): void {
  chownSync(folder, uid, uid);
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (!lstatSync(path).isSymbolicLink()) chownSync(path, uid, uid);
  }
}

export interface ToldEntry {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The entries of an exported ledger. */
export function entriesIn(file: string): readonly ToldEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"entry"'))
    .map((line) => (JSON.parse(line) as { entry: ToldEntry }).entry);
}

/** Describes the turns, to explain a failure. */
export function describeTurns(asked: readonly Asked[]): string {
  return asked
    .map((each) => `${roleIn(each) ?? '?'}: ${each.messages.at(-1)?.text.slice(0, 2000) ?? ''}`)
    .join('\n---\n');
}

/** The handoffs, as `baton run` prints them. */
export function handoffsIn(out: string): readonly string[] {
  const lines = out.split('\n').filter((line) => line.includes('handoff:'));
  return lines.map((line) => line.replace('handoff:', '').trim());
}

export const ALL_HANDOFFS = [
  'issue-manager → prep-agent',
  'prep-agent → implementer-agent',
  'implementer-agent → reviewer-agent',
  'reviewer-agent → fixer-agent',
  'fixer-agent → reviewer-agent',
  'reviewer-agent → validator-agent',
  'validator-agent → closer-agent',
  'closer-agent → workflow-complete',
];

export interface AskedQuestion {
  readonly title: string;
  readonly context: string;
  readonly options: readonly { readonly n: number; readonly action: string; readonly recommended: boolean }[];
}

type Baton = (...args: string[]) => Promise<Ran>;

/** Adopts the runbook, as the person does who wrote it. */
export async function adoptRunbook(baton: Baton): Promise<void> {
  const { code, out } = await baton('runbook', 'adopt');
  const [, sha] = /--accept-rules (\w+)/.exec(out) ?? [];
  if (code === 0) return;
  if (sha === undefined || (await baton('runbook', 'adopt', '--accept-rules', sha)).code !== 0) throw new Error(out);
}

/** Runs a workflow to its end, and answers each question as a person does who confirms the approval that it shows. */
export async function runAndConfirm(baton: Baton, ...args: string[]): Promise<Ran & { asked: AskedQuestion[] }> {
  const asked: AskedQuestion[] = [];
  let ran = await baton('run', ...args);
  let out = ran.out;
  while (ran.code === 3 && asked.length < 5) {
    const listed = await baton('decision', 'list', '--json');
    const { decisions } = JSON.parse(listed.out) as {
      decisions: readonly (AskedQuestion & { id: string; task_id: string })[];
    };
    const [open] = decisions;
    const approval = open?.options.find(({ action }) => action === 'approve');
    if (open === undefined || approval === undefined) throw new Error(`no question about an approval: ${listed.out}`);
    asked.push(open);
    await baton('decision', 'resolve', open.id, String(approval.n));
    ran = await baton('run', '--follow', open.task_id);
    out += ran.out;
  }
  return { ...ran, out, asked };
}
