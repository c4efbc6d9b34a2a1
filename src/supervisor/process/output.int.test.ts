import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { OutputLog } from './output.ts';
import { Scene } from '../scene.cases.ts';

const CAP = 65_536;
/** The amount of output; a gigabyte in the long run of `npm run faults`. */
const FLOOD_MB = process.env['BATON_FAULTS'] === 'long' ? 1024 : 64;

describe('a log with a cap', () => {
  it('keeps what fits', () => {
    const { path, log } = openLog();
    log.write(Buffer.from('hello\n'));
    log.write(Buffer.from('world\n'));
    expect(readFileSync(path, 'utf8')).toBe('hello\nworld\n');
  });

  it('keeps the beginning and the end, and reports how much was cut between them', () => {
    const { path, log } = openLog();
    const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}\n`);
    for (const line of lines) log.write(Buffer.from(line));
    const text = readFileSync(path, 'utf8');
    expect(text.length).toBeLessThanOrEqual(CAP);
    expect(text.startsWith('line 0\nline 1\n')).toBe(true);
    expect(text.endsWith('line 99998\nline 99999\n')).toBe(true);
    const [mark = '', cut] = /\n\[baton: (\d+) bytes of output were cut here\]\n/.exec(text) ?? [];
    expect(Number(cut) + text.length - mark.length).toBe(lines.join('').length);
    expect(text.match(/were cut here/g)).toHaveLength(1);
  });

  it("continues an earlier process's log, and its count", () => {
    const { path, log } = openLog();
    log.write(Buffer.alloc(200_000, 'a'));
    log.close();
    const next = new OutputLog(path, CAP);
    next.write(Buffer.alloc(200_000, 'b'));
    next.close();
    const text = readFileSync(path, 'utf8');
    const [mark = '', cut] = /\n\[baton: (\d+) bytes of output were cut here\]\n/.exec(text) ?? [];
    expect(Number(cut) + text.length - mark.length).toBe(400_000);
    expect([text.at(0), text.at(-1)]).toEqual(['a', 'b']);
  });
});

it('marks the start of another process on a separate line', () => {
  const { path, log } = openLog();
  log.write(Buffer.from('half a line'));
  log.markStart(2, '2026-01-01T00:00:00.000Z');
  log.write(Buffer.from('more\n'));
  log.markStart(3, '2026-01-02T00:00:00.000Z');
  expect(readFileSync(path, 'utf8').split('\n')).toEqual([
    'half a line',
    '[baton: process 2 starts here, 2026-01-01T00:00:00.000Z]',
    'more',
    '[baton: process 3 starts here, 2026-01-02T00:00:00.000Z]',
    '',
  ]);
});

describe('a flood of output', () => {
  it(
    'costs a supervisor neither memory nor disk, and its hooks are answered meanwhile',
    { timeout: 300_000 },
    async () => {
      await using scene = new Scene();
      const script = `head -c ${FLOOD_MB}M /dev/zero | tr '\\0' '{'; printf '\\nthe end\\n'`;
      const run = await scene.start({ argv: ['/bin/sh', '-c', script], log_bytes: CAP });
      await run.running();
      let largest = 0;
      let stops = 0;
      const looking = (async () => {
        while (run.child.exitCode === null) {
          const status = statusOf(run.child.pid ?? 0);
          if (status === undefined) break;
          largest = Math.max(largest, status);
          if ((await run.stop().catch(() => undefined)) !== undefined) stops += 1;
        }
      })();
      const { code, signal, output } = await run.exit();
      expect({ code, signal, end: output?.slice(-7) }).toEqual({ code: 0, signal: null, end: 'the end' });
      await looking;
      await until('the log is whole', () => statSync(run.files.log).size <= CAP);
      expect(readFileSync(run.files.log, 'utf8').endsWith('the end\n')).toBe(true);
      expect(largest).toBeLessThan(160);
      expect(stops).toBeGreaterThan(0);
    },
  );
});

function openLog(): { readonly path: string; readonly log: OutputLog } {
  const folder = mkdtempSync(join(tmpdir(), 'baton-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'output.log');
  return { path, log: new OutputLog(path, CAP) };
}

/** The process's memory in megabytes. */
function statusOf(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
