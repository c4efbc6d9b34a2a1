import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ENVIRONMENT, REPOSITORY, STATE, takePlace } from '../test/recorded/place.ts';
import { writeKey } from '../test/recorded/record-ledger.ts';
import { hashEntries, packVersion } from '../test/recorded/upgrades/fixture.ts';
import { VERSIONS } from '../test/recorded/upgrades/versions.ts';
import { checkOutCommit } from './checkout-commit.ts';

/** An agent that ends without a signal opens a decision, which stays open for the new version to answer. */
const ASKS = `
[commands.ask]
run = { pipeline = "ask" }

[pipelines.ask]
steps = [{ name = "look", run = { agent = "looker" } }]

[agents.looker]
run = "echo I have looked at it"
`;

/**
 * `node scripts/record-upgrades.ts [NAME…]`: runs earlier versions to write the ledgers of `test/fixtures/upgrades`.
 */
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(VERSIONS);
for (const name of names) {
  using _place = await takePlace();
  using version = checkOutCommit(VERSIONS[name] ?? name);
  const { entries, sha256, tasks } = await recordWith(version.path);
  packVersion(name, { entries, sha256, tasks });
  console.log(`${name}: ${entries} entries, tasks ${JSON.stringify(tasks)}`);
}

async function recordWith(version: string) {
  const hasWorkflow = existsSync(join(version, 'examples/sample/baton.toml'));
  makeRepository(version, hasWorkflow);
  const baton = (codes: readonly number[], ...args: string[]): string => {
    const bin = join(version, 'bin/baton.cjs');
    const ran = spawnSync(process.execPath, [bin, ...args], { cwd: REPOSITORY, env: ENVIRONMENT, encoding: 'utf8' });
    if (!codes.includes(ran.status ?? -1)) throw new Error(`baton ${args.join(' ')}: ${ran.status} ${ran.stderr}`);
    return ran.stdout;
  };
  try {
    baton([0], 'up');
    if (hasWorkflow) {
      baton([0], 'run', 'issue', 'Read durations back');
      while (!baton([0], 'agent', 'list', '--json').includes('"agents":[]')) await sleep(100);
      baton([3], 'run', 'ask');
    }
    baton([0], 'task', 'add', 'T1', '--title', 'Write the guide');
    baton([0], 'task', 'add', 'T2', '--title', 'Print the guide', '--after', 'T1');
    baton([0], 'task', 'claim', 'T1', '--as', 'ada');
    baton([0], 'ledger', 'seal');
    const listed: { tasks: { id: string; status: string }[] } = JSON.parse(baton([0], 'task', 'list', '--json'));
    const tasks = Object.fromEntries(listed.tasks.map(({ id, status }) => [id, status]));
    baton([0], 'down');
    const exported = baton([0], 'ledger', 'export');
    const entries = exported.split('\n').filter((line) => line.startsWith('{"entry"')).length;
    return { entries, tasks, sha256: hashEntries(exported, entries) };
  } finally {
    baton([0, 1], 'down');
    // Keeps commits of deleted branches, because records name them.
    git('repack', '-a', '-d', '-k', '--quiet');
  }
}

function makeRepository(version: string, hasWorkflow: boolean): void {
  mkdirSync(STATE, { mode: 0o700 });
  writeKey();
  if (hasWorkflow) {
    cpSync(join(version, 'examples/sample'), REPOSITORY, { recursive: true });
    appendFileSync(join(REPOSITORY, 'baton.toml'), ASKS);
  } else {
    mkdirSync(REPOSITORY);
    writeFileSync(join(REPOSITORY, 'README.md'), 'A repository.\n');
  }
  git('init', '--quiet', '--template=', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'the sample');
}

function git(...args: string[]): void {
  execFileSync('git', args, { cwd: REPOSITORY, env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'inherit'] });
}
