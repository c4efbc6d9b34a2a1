import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makePackage } from '../package/make-package.ts';
import { FAULTS, type Fault } from './storm/faults.ts';

/**
 * `node test/faults/storm.ts [--workflows 200] [--agents 12] [--seed N] [--minutes M] [--fault kill,lock] [--evidence
 * FOLDER]`: runs workflows while the daemon is randomly stopped and killed, its database locked and its disk filled.
 * Prints the seed, counts and all faults.
 */
const { values } = parseArgs({
  options: {
    workflows: { type: 'string', default: '200' },
    agents: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string' },
    fault: { type: 'string' },
    evidence: { type: 'string' },
  },
});
const workflows = Number(values.workflows);
const minutes = Number(values.minutes ?? 5 + workflows / 4);

if (process.env['STORM'] === undefined) {
  process.stdout.write(`seed ${values.seed}, ${workflows} workflows, at most ${minutes} minutes\n`);
  const folder = mkdtempSync(join(tmpdir(), 'baton-storm-package-'));
  try {
    await makePackage(folder);
    process.exitCode = inside(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  const { runStorm } = await import('./storm/run-storm.ts');
  const faults = values.fault?.split(',').filter((name): name is Fault => FAULTS.some((each) => each === name));
  const { evidence } = values;
  const report = await runStorm({
    workflows,
    agents: Number(values.agents),
    seed: Number(values.seed),
    minutes,
    ...(faults === undefined ? {} : { faults }),
    ...(evidence === undefined ? {} : { evidence }),
  });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}

/** Runs in a separate mount namespace if possible, so that the small disk is removed with it. */
function inside(folder: string): number {
  const args = ['--disable-warning=ExperimentalWarning', import.meta.filename, ...process.argv.slice(2)];
  const isNamed = process.argv.some((word) => word.startsWith('--seed'));
  const all = [process.execPath, ...args, ...(isNamed ? [] : ['--seed', values.seed])];
  const unshare = ['unshare', '--user', '--map-root-user', '--mount'];
  const mounts = spawnSync(unshare[0] ?? '', [...unshare.slice(1), 'true']).status === 0;
  const [program = '', ...rest] = mounts ? [...unshare, ...all] : all;
  const env = { ...process.env, STORM: '1', STORM_MOUNTS: mounts ? '1' : '0', BATON_TEST_PACKAGE: folder };
  return spawnSync(program, rest, { stdio: 'inherit', env }).status ?? 1;
}
