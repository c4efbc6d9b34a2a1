import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BATON } from '../../../../test/package/where.ts';
import { Terminal } from '../../../../test/processes/terminal.ts';
import { runCli } from '../../../../test/run-cli.ts';
import { Scene } from '../../../daemon/running.cases.ts';
import { probeBubblewrap } from '../../../sandbox/probe.ts';
import type { DoctorReport, Finding } from '../finding.ts';

const bubblewrap = await probeBubblewrap();

let scene: Scene;
let repository: string;
beforeEach(() => {
  scene = new Scene();
  repository = realpathSync(scene.makeRepository());
});
afterEach(async () => scene.end());

async function prove(runbook: string): Promise<readonly Finding[]> {
  writeFileSync(join(repository, 'baton.toml'), runbook);
  const PATH = `${dirname(process.execPath)}:${scene.env['PATH']}`;
  const { out } = await runCli(['doctor', '--prove', '--json'], '', { env: { ...scene.env, PATH }, cwd: repository });
  const report = JSON.parse(out) as DoctorReport; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return report.findings.filter(({ code }) => code.startsWith('proof.'));
}

const MODELS = `
sandbox = "none"
[workflow]
mode = "supervised"
[agents.coder]
run = "claude"
role = "implementer"
prompt = "Write code."
[workers.implementers]
roles = ["implementer"]
workflow = true
run = { agent = "coder" }
`;
const checkOf = (run: string): string => `${MODELS}[[ci.required]]\nname = "test"\nrun = "${run}"\n`;

it('runs no runbook outside of a sandbox that nobody has agreed to', async () => {
  const mark = join(scene.folder, 'ran-outside');
  expect(await prove(checkOf(`touch ${mark}`))).toMatchObject([
    { code: 'proof.not-started', fix: expect.stringContaining('baton doctor --prove in a terminal') },
  ]);
  expect(existsSync(mark)).toBe(false);
});

it('shows a person what no sandbox prevents, if they agree to run without one', async () => {
  writeFileSync(join(repository, 'baton.toml'), checkOf('test -d baton-scripted'));
  const PATH = `${dirname(process.execPath)}:${scene.env['PATH']}`;
  await using terminal = new Terminal([process.execPath, BATON, 'doctor', '--prove'], {
    cwd: repository,
    env: { ...scene.env, PATH },
    columns: 160,
  });
  await terminal.shows('Put these rules in force? [y/N]');
  terminal.type('y');
  await terminal.shows('could write to the main checkout');
  await terminal.exit();
  expect(execFileSync('git', ['-C', repository, 'status', '--porcelain'], { encoding: 'utf8' })).toBe(
    '?? baton.toml\n',
  );
  expect(existsSync(scene.stateDir)).toBe(false);
  expect(readdirSync(repository).toSorted()).toEqual(['.git', 'baton.toml']);
});

it.skipIf(!bubblewrap.works)('finds no escape from bubblewrap, also if the copy is in /tmp', async () => {
  const runbook = MODELS.replace('sandbox = "none"', 'sandbox = "bubblewrap"');
  scene.env['TMPDIR'] = undefined;
  const found = await prove(`${runbook}[[ci.required]]\nname = "test"\nrun = "test -d baton-scripted"\n`);
  expect(found.map(({ code }) => code)).toEqual(['proof.merged', 'proof.contained']);
});

it('names the check that fails in a clean checkout', async () => {
  expect(await prove(checkOf('echo missing: node_modules; false').replace('sandbox = "none"', ''))).toMatchObject([
    { code: 'proof.check-failed', detail: 'check test failed in a clean checkout: missing: node_modules' },
  ]);
});

it('reports that there is no workflow to play', async () => {
  expect(await prove('[agents.a]')).toMatchObject([{ code: 'proof.skipped', fix: 'Write one: baton init' }]);
});
