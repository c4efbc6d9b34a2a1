import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

describe('npm start', () => {
  it(
    'goes from a request to a merge and leaves one folder, whose record anybody can check',
    { timeout: 180_000 },
    () => {
      const place = mkdtempSync(join(tmpdir(), 'baton-demo-test-'));
      onTestFinished(() => rmSync(place, { recursive: true, force: true }));
      const ran = spawnSync(process.execPath, ['scripts/demo.ts'], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: place, TMPDIR: place },
        timeout: 170_000,
      });
      expect(ran.stderr.replaceAll(/.*ExperimentalWarning.*\n|\(Use `node.*\n/g, '')).toBe('');
      expect(ran.status).toBe(0);
      const said = ran.stdout;
      const left = readdirSync(place).filter((name) => name.startsWith('baton-demo-'));
      expect(left).toHaveLength(1);
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
      const checked = execFileSync(
        'sh',
        ['examples/verify-ledger.sh', join(folder, 'ledger.ndjson'), join(folder, 'sample')],
        { cwd: ROOT, encoding: 'utf8' },
      );
      expect(checked).toMatch(/^\d+ entries and \d+ commits are as they were recorded$/m);
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
});

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
