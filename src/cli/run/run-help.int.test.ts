import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../../test/run-cli.ts';
import { issueArgs } from '../../runbook/library.ts';

const RUNBOOK = `
[commands.ship]
args = "<version> [--tag <name>]"
run = "true"

[pipelines.check.vars]
target = "all"
[[pipelines.check.steps]]
name = "test"
run = "true"
`;

function help(...words: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-help-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, 'baton.toml'), RUNBOOK);
  return runCli([...words, '--help'], '', { cwd, env: { PATH: process.env['PATH'] } });
}

describe('the help of `baton run NAME`', () => {
  it('describes every argument and option of the built-in workflow', async () => {
    const { code, out } = await help('run', 'issue');
    expect(code).toBe(0);
    expect(out).toContain('Usage: baton run issue [title] ');
    for (const { name } of issueArgs().options) expect(out).toMatch(new RegExp(`^ {6}--${name} [A-Z]+ +[A-Z]`, 'm'));
    expect(out).toContain('--from-github');
    expect(out).not.toContain('Defined by the runbook');
  });

  it('has the arguments of a command and of a pipeline of the runbook', async () => {
    const ship = (await help('run', 'ship')).out;
    expect(ship).toMatch(/^ {2}baton run ship <version>\n/);
    expect(ship).toContain('Usage: baton run ship version [--tag NAME] [--plan] ');
    expect(ship).not.toContain('--from-github');
    expect((await help('run', 'check')).out).toContain('Usage: baton run check [--target TARGET] ');
  });

  it('is the usual help for a name that the runbook does not have', async () => {
    expect((await help('run', 'shp')).out).toBe((await help('run')).out);
  });
});
