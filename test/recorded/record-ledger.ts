import { execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../processes/until.ts';
import { runCli, type Ran } from '../run-cli.ts';
import { ENVIRONMENT, REPOSITORY, STATE } from './place.ts';

const SAMPLE = join(import.meta.dirname, '../../examples/sample');

/**
 * Runs a whole issue in the sample repository, then some actions that no issue includes; ends with a sealed ledger and
 * a stopped daemon.
 */
export async function recordLedger(): Promise<void> {
  mkdirSync(STATE, { mode: 0o700 });
  writeKey();
  cpSync(SAMPLE, REPOSITORY, { recursive: true });
  git('init', '--quiet', '--template=', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'the sample');
  try {
    await must('up');
    await must('run', 'issue', 'Read durations back');
    await workByHand();
    await until('nothing runs', async () => (await must('agent', 'list', '--json')).out.includes('"agents":[]'));
    await must('ledger', 'seal');
  } finally {
    await runCli(['down'], '', { env: ENVIRONMENT, cwd: REPOSITORY });
  }
  // Keeps commits of deleted branches, because records name them.
  git('repack', '-a', '-d', '-k', '--quiet');
}

/** Creates tasks that people and sessions outside Baton work on. */
async function workByHand(): Promise<void> {
  await must('task', 'add', 'T1', '--title', 'Write the guide');
  await must('task', 'add', 'T2', '--title', 'Print the guide', '--after', 'T1');
  await must('task', 'add', 'T3', '--title', 'Not needed after all');
  await must('task', 'claim', 'T1', '--as', 'ada');
  await must('task', 'release', 'T1');
  await must('task', 'cancel', 'T3', '--reason', 'there is no printer');
  await must('task', 'reinstate', 'T3', '--reason', 'there is one again');
  await must('task', 'import', join(SAMPLE, '../../test/fixtures/exchange/TODO.md'));
}

/** Writes a fixed key, so that no recording needs to store its own. */
export function writeKey(): void {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 1)]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  writeFileSync(join(STATE, 'key.pem'), key.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
}

async function must(...argv: string[]): Promise<Ran> {
  const ran = await runCli(argv, '', { env: ENVIRONMENT, cwd: REPOSITORY });
  if (ran.code !== 0) throw new Error(`baton ${argv.join(' ')}: ${ran.code} ${ran.err}`);
  return ran;
}

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: REPOSITORY, env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'inherit'] });
}
