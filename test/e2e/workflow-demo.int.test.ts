import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findProcesses } from '../processes/find-processes.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('npm start', () => {
  it(
    'goes from a request to a merge and leaves one folder, whose record anybody can check',
    { timeout: 180_000 },
    () => {
      const place = makePlace();
      // Whatever the user's git is set to is not the demo's.
      writeFileSync(join(place, '.gitconfig'), '[commit]\n gpgsign = true\n[core]\n hooksPath = hooks-that-refuse\n');
      const ran = spawnSync(process.execPath, ['scripts/demo.ts'], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: place, TMPDIR: place },
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
        'implementer tried to stop, and was told: You must explicitly signal completion',
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
      // Nothing runs any more.
      expect(existsSync(join(folder, 'state/daemon.json'))).toBe(false);
      expect(processesNaming(folder)).toEqual([]);
      const ledger = join(folder, 'ledger.ndjson');
      const checked = verifyOutside(ledger, join(folder, 'sample'));
      expect(checked).toMatchObject({ status: 0, stderr: '' });
      expect(checked.stdout).toMatch(
        /^(\d+) of \1 messages are tied to commits\n\d+ entries and \d+ commits are as they were recorded$/m,
      );
      // It notices what is wrong: another word, a missing end, another repository.
      const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n');
      const broken: [string[], string][] = [
        [lines.map((line) => line.replace('"outcome":"failed"', '"outcome":"passed"')), 'FAILED'],
        [lines.toSpliced(-2, 1), 'not those that the checkpoint speaks of'],
        [lines.toSpliced(3, 1), 'does not follow the one before'],
      ];
      for (const [changed, words] of broken) {
        writeFileSync(join(place, 'broken.ndjson'), `${changed.join('\n')}\n`);
        const said = verifyOutside(join(place, 'broken.ndjson'), join(folder, 'sample'));
        expect(said.status).not.toBe(0);
        expect(`${said.stdout}${said.stderr}`).toContain(words);
      }
      execFileSync('git', ['init', '--quiet', join(place, 'other')]);
      expect(verifyOutside(ledger, join(place, 'other')).stdout).toContain('is not in the repository');
      const types = new Set(
        readFileSync(join(folder, 'ledger.ndjson'), 'utf8')
          .split('\n')
          .flatMap((line) => /"type":"(\w+)"/.exec(line)?.[1] ?? []),
      );
      for (const type of [
        'HandoffDelivered',
        'SessionPrepared',
        'ResultSubmitted',
        'AgentSessionCompleted',
        'ThoughtRecorded',
        'CheckFinished',
        'MergeFinished',
        'LedgerSealed',
      ])
        expect(types).toContain(type);
    },
  );

  it('leaves nothing running where somebody has seen enough', { timeout: 120_000 }, async () => {
    const place = makePlace();
    const env = { PATH: process.env['PATH'], HOME: place, TMPDIR: place };
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    const demo = spawn(process.execPath, ['scripts/demo.ts'], { cwd: ROOT, env, stdio: [...stdio] });
    onTestFinished(() => void demo.kill('SIGKILL'));
    const exited = once(demo, 'exit');
    let said = '';
    for await (const chunk of demo.stdout) {
      const before = said;
      said += String(chunk);
      if (!before.includes(SEEN) && said.includes(SEEN)) demo.kill('SIGINT');
    }
    expect(await exited).toEqual([130, null]);
    const folder = join(place, readdirSync(place)[0] ?? '');
    expect(said).toContain(`Interrupted. Nothing runs any more; what there was by then is in ${folder}`);
    expect(existsSync(join(folder, 'state/daemon.json'))).toBe(false);
    expect(findProcesses(join(folder, 'state'))).toEqual([]);
  });
});

const SEEN = 'implementer has it';

/** A folder that is at once home and the place for temporary files. */
function makePlace(): string {
  const place = mkdtempSync(join(tmpdir(), 'baton-demo-test-'));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  return place;
}

/** The script of the documentation: git, sha256sum and node, and nothing of Baton. */
function verifyOutside(ledger: string, repository: string) {
  const args = ['examples/verify-ledger.sh', ledger, repository];
  return spawnSync('sh', args, { cwd: ROOT, encoding: 'utf8' });
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
