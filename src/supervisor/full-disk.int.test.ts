import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../test/processes/until.ts';
import { EXIT_NO_ROOM } from './contract.ts';
import { Scene, type Supervised } from './scene.cases.ts';

/** Simulates a full disk: while the file `full` exists, supervisors can write only to space that a file already has. */
function fillDisk(scene: Scene): { readonly full: string; readonly clear: () => void } {
  const [module, full] = [join(scene.folder, 'full-disk.cjs'), join(scene.folder, 'full')];
  writeFileSync(
    module,
    `const fs = require('node:fs');
     for (const name of ['writeFileSync', 'writeSync']) {
       const write = fs[name];
       fs[name] = (...args) => {
         const isInPlace = name === 'writeSync' && typeof args[2] === 'number';
         if (!isInPlace && fs.existsSync(${JSON.stringify(full)})) throw Object.assign(new Error('ENOSPC: full'), { code: 'ENOSPC' });
         return write(...args);
       };
     }`,
  );
  scene.env['NODE_OPTIONS'] = `--require=${module}`;
  return { full, clear: () => rmSync(full) };
}

const sh = (script: string) => ({ argv: ['/bin/sh', '-c', script] }) as const;

async function ended({ child }: Supervised): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

describe('a supervisor on a full disk', () => {
  it('runs nothing and gives the start back, so that the next one runs it', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const { full, clear } = fillDisk(scene);
    writeFileSync(full, '');
    const first = await scene.start(sh('echo ran >> ran.txt'));
    expect(await ended(first)).toBe(EXIT_NO_ROOM);
    expect(existsSync(first.files.taken(1))).toBe(false);
    expect(existsSync(join(scene.cwd, 'ran.txt'))).toBe(false);
    clear();
    const second = await scene.supervise(first.launch);
    expect(await second.exit()).toMatchObject({ code: 0 });
    expect(readFileSync(join(scene.cwd, 'ran.txt'), 'utf8')).toBe('ran\n');
    expect(scene.daemon.reports('exited')).toHaveLength(1);
  });

  it('keeps the exit of its process until there is room, and reports it then', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const { full, clear } = fillDisk(scene);
    const run = await scene.start(sh(`: > '${full}'; exit 3`));
    await until('it waits for room', () => run.words().includes('ENOSPC'));
    expect(run.child.exitCode).toBeNull();
    expect(scene.daemon.reports('exited')).toHaveLength(0);
    clear();
    expect(await run.exit()).toMatchObject({ code: 3, signal: null });
    expect(scene.daemon.reports('exited')).toMatchObject([{ input: { code: 3 } }]);
  });

  it('sends a signal that its process printed until it is recorded, before its exit', async () => {
    const refusal = { ok: false, error: { code: 'store-unavailable', message: 'full', hint: '' } };
    let full = '';
    const said: string[] = [];
    await using scene = new Scene({
      exit_signal: () => {
        said.push(existsSync(full) ? 'refused' : 'recorded');
        return existsSync(full) ? refusal : { ok: true, result: {} };
      },
      agent_report: ({ input }) => {
        said.push(String(input['kind']));
        return { ok: true, result: {} };
      },
    });
    await scene.daemon.start();
    const disk = fillDisk(scene);
    full = disk.full;
    const signal =
      '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}';
    const run = await scene.start(sh(`: > '${full}'; echo '${signal}'`));
    await until('it was sent', () => said.includes('refused'));
    disk.clear();
    await run.exit();
    expect(said.filter((each) => each !== 'refused')).toEqual(['started', 'recorded', 'exited']);
  });

  it('records that its process runs in space that it has reserved', async () => {
    await using scene = new Scene();
    const { full, clear } = fillDisk(scene);
    // Fills the disk after all files were written and before the process starts.
    const run = await scene.start({
      ...sh('read go; exit 0'),
      files: [{ path: full, content: '' }],
    });
    expect(await run.running()).toMatchObject({ start: 1 });
    clear();
    await run.control({ kind: 'send', message_id: 'm', text: 'go' });
    expect(await run.exit()).toMatchObject({ code: 0 });
  });
});
