import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { gitEnvironment } from '../../git/run-git.ts';
import { surveySandboxes } from '../../sandbox/survey.ts';
import { acceptUnproven } from './accept-unproven.ts';
import type { Io } from '../command.ts';

/** The folder of one demo, with its own repository and state folder, so that the user's are never touched. */
export interface DemoPlace {
  readonly folder: string;
  readonly repository: string;
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Exists in a clone and in the package. `import.meta.dirname` is at the same distance from the root in both. */
const ROOT = join(import.meta.dirname, '../../..');
export const LAUNCHER: string = join(ROOT, 'bin', 'baton.cjs');

export function demoPlaceIn(folder: string, userEnv: Io['env']): DemoPlace {
  const stateDir = join(folder, 'state');
  return {
    folder,
    stateDir,
    repository: join(folder, 'sample'),
    env: { ...demoEnvironment(userEnv, stateDir), ...acceptUnproven(folder, userEnv) },
  };
}

/** Writes the sample repository and commits it. */
export async function fillDemoPlace(place: DemoPlace, isSlow: boolean): Promise<void> {
  const { folder, repository, env } = place;
  writeFileSync(join(folder, 'README.txt'), ABOUT);
  cpSync(join(ROOT, 'examples', 'sample'), repository, { recursive: true });
  if (isSlow) slowAgents(repository);
  if (!(await surveySandboxes(env, false)).bubblewrap.works) leaveSandboxOut(repository);
  commitAll(place);
}

const ABOUT =
  'Made by the demo of Baton. sample: the repository; state: the files of the daemon; ledger.ndjson: the whole record.\n';

export function hasGit({ PATH }: Io['env']): boolean {
  return spawnSync('git', ['--version'], { env: { PATH } }).status === 0;
}

/** Retries, because a supervisor may still write its last lines while its folder is removed. */
export function removeDemoPlace({ folder }: DemoPlace): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

function demoEnvironment(userEnv: Io['env'], stateDir: string): DemoPlace['env'] {
  const kept = Object.entries(userEnv).filter(([name]) => !/^(?:BATON_|AGENT_EXIT_PROTOCOL_)/.test(name));
  return {
    ...Object.fromEntries(kept),
    // The sample's agents and tests call `node`, which may be missing on the PATH if the user starts Node by its path.
    PATH: [dirname(process.execPath), userEnv['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter),
    // The demo's commits are not signed, and the user's hooks do not run for them.
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    BATON_STATE_DIR: stateDir,
  };
}

function commitAll({ repository, env }: DemoPlace): void {
  const git = (...args: readonly string[]): void => {
    const options = { stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] };
    execFileSync('git', ['-C', repository, ...args], { ...options, env: gitEnvironment(env) });
  };
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  const author = ['-c', 'user.name=sample', '-c', 'user.email=sample@localhost'];
  git(...author, 'commit', '--quiet', '-m', 'A library of durations');
}

/**
 * Turns the sandbox off: in mode `user`, another user could not reach a private temporary folder. The demo's agents are
 * known scripts.
 */
function leaveSandboxOut(repository: string): void {
  appendFileSync(join(repository, 'baton.toml'), '\n[sandbox]\nmode = "none"\n');
}

/** Makes the agents work for seconds instead of milliseconds, so that a person can follow the stage tree. */
function slowAgents(repository: string): void {
  for (const name of globSync('agents/*.yaml', { cwd: repository })) {
    const file = join(repository, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^- run: /gm, '- run: sleep 4\n$&'));
  }
}
