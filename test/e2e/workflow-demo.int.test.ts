import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BATON, COMPILE_CACHE } from '../package/where.ts';

const ROOT = join(import.meta.dirname, '../..');
const PYTHON_NOTE = spawnSync('python3', ['--version']).error === undefined ? '' : ' (python3 missing: not by others)';

/** The only walk through a whole workflow in this lane. The others are in the long lane (`workflow-*.long.test.ts`). */
describe('npm start', () => {
  it(
    `goes from a request to a merge and leaves one folder, whose record can be verified by others${PYTHON_NOTE}`,
    { timeout: 180_000 },
    () => {
      const place = makePlace();
      // The user's git settings must not affect the demo.
      writeFileSync(join(place, '.gitconfig'), '[commit]\n gpgsign = true\n[core]\n hooksPath = hooks-that-refuse\n');
      const ran = spawnSync(process.execPath, ['scripts/demo.ts'], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: place, TMPDIR: place, ...COMPILE_CACHE },
        timeout: 170_000,
      });
      expect(ran.stderr.replaceAll(/.*ExperimentalWarning.*\n|\(Use `node.*\n/g, '')).toBe('');
      expect(ran.status).toBe(0);
      const said = ran.stdout;
      const left = readdirSync(place).filter((name) => name !== '.gitconfig');
      expect(left).toEqual([expect.stringMatching(/^baton-demo-/)]);
      const folder = join(place, left[0] ?? '');
      expect(said).toContain(folder);
      for (const words of [
        'The implementer tried to stop. Baton blocked the stop and answered: You must explicitly signal completion',
        'check test: failed',
        'handoff: ci-gate → fixer-agent',
        'handoff: reviewer-agent → fixer-agent',
        'merge: merged as',
        'handoff: closer-agent → workflow-complete',
        'verified:',
        'verified task proof',
        'http://127.0.0.1:',
      ])
        expect(said).toContain(words);
      // No process is running any more.
      expect(existsSync(join(folder, 'state/daemon.json'))).toBe(false);
      expect(processesNaming(folder)).toEqual([]);
      // The state that the daemon saved at its end equals the folded entries.
      const env = { PATH: process.env['PATH'], BATON_STATE_DIR: join(folder, 'state') };
      const verify = [BATON, 'ledger', 'verify', '--json', '--project', join(folder, 'sample')];
      const verified = spawnSync(process.execPath, verify, { env, encoding: 'utf8' });
      expect(JSON.parse(verified.stdout)).toMatchObject({ verified: true, fold: { snapshot: 'matches' } });
      const ledger = join(folder, 'ledger.ndjson');
      if (PYTHON_NOTE === '') proveOutside(ledger, join(folder, 'sample'), place);
      const story = readFileSync(ledger, 'utf8').trimEnd().split('\n').flatMap(entryIn);
      proveWalk(story);
      proveMerge(join(folder, 'sample'), story);
    },
  );
});

describe('baton demo', () => {
  it('names what is missing if there is no git, and creates nothing', () => {
    const place = makePlace();
    const env = { PATH: place, HOME: place, TMPDIR: place };
    const ran = spawnSync(process.execPath, [BATON, 'demo'], { encoding: 'utf8', env });
    expect([ran.status, ran.stdout, ran.stderr]).toEqual([
      1,
      '',
      'Error: the demo needs git, which is not on the PATH [git/cannot-run]\n  hint: Install git, then: baton demo\n',
    ]);
    expect(readdirSync(place).filter((name) => name.startsWith('baton-demo-'))).toEqual([]);
  });
});

interface Entry {
  readonly type: string;
  readonly actor: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Parses an entry; the last line of an export is a checkpoint. */
function entryIn(line: string): Entry[] {
  const { entry }: { entry?: Entry } = JSON.parse(line);
  return entry === undefined ? [] : [entry];
}

/** Checks every handoff, every phase and every gate, in this order. */
function proveWalk(story: readonly Entry[]): void {
  const of = (type: string): Entry[] => story.filter((each) => each.type === type);
  const handoffs = of('HandoffDelivered').map(({ data }) => `${String(data['from'])} → ${String(data['to'])}`);
  expect(handoffs).toEqual([
    'issue-manager → prep-agent',
    'prep-agent → implementer-agent',
    'implementer-agent → reviewer-agent',
    'ci-gate → fixer-agent',
    'fixer-agent → reviewer-agent',
    'reviewer-agent → fixer-agent',
    'fixer-agent → reviewer-agent',
    'reviewer-agent → validator-agent',
    'validator-agent → closer-agent',
    'closer-agent → null',
  ]);
  const by = (actor: string): string => (actor.startsWith('session:') ? 'session' : actor);
  expect(of('PhaseMoved').map(({ data, actor }) => `${String(data['to'])} (${by(actor)})`)).toEqual([
    'DRAFT (session)',
    'IMPLEMENTATION (session)',
    'CI_PENDING (session)',
    'IMPLEMENTATION (system:ci)',
    'CI_PENDING (session)',
    'READY_FOR_REVIEW (system:ci)',
    'REVIEW (system:engine)',
    'IMPLEMENTATION (session)',
    'CI_PENDING (session)',
    'READY_FOR_REVIEW (system:ci)',
    'REVIEW (system:engine)',
    'READY_FOR_MERGE (session)',
    'COMPLETED (system:merge)',
    'COMPLETED (session)',
  ]);
  expect(of('CheckFinished').map(({ data }) => data['outcome'])).toEqual(['failed', 'passed', 'passed']);
  expect(of('HandoffDelivered').at(-1)?.data['xml']).toMatch(
    /<review_iterations>2<\/review_iterations>\s*<total_commits>3<\/total_commits>/,
  );
  // Every session with a commit has its record; those that write code submitted a result.
  expect(of('SessionMeasured').filter(({ data }) => data['commits'] === 1)).toHaveLength(3);
  expect(of('ThoughtRecorded')).toHaveLength(3);
  expect(of('ResultSubmitted').length).toBeGreaterThanOrEqual(3);
  expect(of('AgentSessionCompleted')).toHaveLength(of('SessionPrepared').length);
  expect(of('LedgerSealed')).toHaveLength(1);
}

/**
 * Checks that main has one commit, which was reviewed and names its task, and that nothing else is left in the
 * repository.
 */
function proveMerge(repository: string, story: readonly Entry[]): void {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim();
  const sha = String(story.find(({ type }) => type === 'MergeFinished')?.data['merge_sha']);
  expect(git('rev-parse', 'main')).toBe(sha);
  expect(git('rev-list', '--count', 'main')).toBe('2');
  expect(git('log', '-1', '--format=%B', sha)).toContain('Baton-Task: W-00001');
  expect(git('show', `${sha}:src/parse-duration.js`)).toContain('throw new RangeError');
  expect(git('branch', '--list', 'feature/*')).toBe('');
  expect(git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  for (const { data } of story.filter(({ type }) => type === 'SessionMeasured'))
    expect(git('cat-file', '-t', String(data['head']))).toBe('commit');
}

/** A folder that is used both as home and for temporary files. */
function makePlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'baton-demo-test-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

function proveOutside(ledger: string, repository: string, place: string): void {
  const checked = verifyOutside(ledger, repository);
  expect(checked).toMatchObject({ status: 0, stderr: '' });
  expect(checked.stdout).toMatch(/^verified: \d+ entries, and the repository has all \d+ commits\./);
  // The verification detects another word, a missing end, and another repository.
  const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n');
  const broken: [string[], string][] = [
    [lines.map((line) => line.replace('"outcome":"failed"', '"outcome":"passed"')), 'its hash or its form is wrong'],
    [lines.toSpliced(-2, 1), 'it belongs to other entries'],
    [lines.toSpliced(3, 1), 'an entry of W-00001 is missing before it'],
  ];
  for (const [changed, words] of broken) {
    writeFileSync(join(place, 'broken.ndjson'), `${changed.join('\n')}\n`);
    const said = verifyOutside(join(place, 'broken.ndjson'), repository);
    expect(said.status).not.toBe(0);
    expect(`${said.stdout}${said.stderr}`).toContain(words);
  }
  execFileSync('git', ['init', '--quiet', join(place, 'other')]);
  expect(verifyOutside(ledger, join(place, 'other')).stderr).toContain('is not in the repository');
}

/** Runs the script of the documentation, which uses Python and git, but nothing of Baton. */
function verifyOutside(ledger: string, repository: string) {
  const args = ['examples/verify-ledger.py', ledger, '--repository', repository];
  return spawnSync('python3', args, { cwd: ROOT, encoding: 'utf8' });
}

function processesNaming(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder) ? [pid] : [];
      } catch {
        return [];
      }
    });
}
