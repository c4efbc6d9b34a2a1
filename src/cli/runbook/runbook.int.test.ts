import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../../test/run-cli.ts';

/** Creates a git repository with these files. */
function repository(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-cli-runbook-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  execFileSync('git', ['init', '--quiet', folder]);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const GOOD = '[agents.a]\nrun = "claude"\nprompt_file = "a.md"\n[commands.c]\nargs = "<x>"\nrun = "echo ${var.x}"\n';

const UNCHECKED = 'note: nothing would be checked before a merge: the runbook does not set ci.required\n';

describe('baton runbook check', () => {
  it('summarises the runbook in one line, and exits 0', async () => {
    const folder = repository({
      'baton.toml': `${GOOD}\n[[ci.required]]\nname = "test"\nrun = "npm test"\n`,
      'a.md': 'Do it.',
      '.baton/runbooks/b.yaml': 'agents: { b: { run: ./agent } }',
    });
    expect(await runCli(['runbook', 'check', '--project', folder])).toEqual({
      code: 0,
      out: 'baton.toml, .baton/runbooks/b.yaml: valid (2 agents, 0 pipelines, 1 command, 0 workers)\n',
      err: '',
    });
  });

  it('refuses a store with a password, at its line', async () => {
    const folder = repository({ 'baton.toml': 'project = "a"\nstore = "postgres://baton:hunter2@localhost/baton"\n' });
    const { code, err } = await runCli(['runbook', 'check', '--project', folder]);
    expect(code).toBe(1);
    expect(err).toContain('the URL of the store contains a password [invalid-value]\n  at baton.toml:2:');
    expect(err).toContain('PGPASSFILE');
  });

  it('finds the runbook from a folder inside the repository', async () => {
    const folder = repository({ 'baton.toml': GOOD, 'a.md': 'Do it.', 'src/x.ts': '' });
    expect(await runCli(['runbook', 'check', '--project', join(folder, 'src')])).toMatchObject({ code: 0 });
  });

  it('reports that there is no runbook', async () => {
    const { code, out } = await runCli(['runbook', 'check', '--project', repository({})]);
    expect({ code, out }).toEqual({
      code: 0,
      out: `There is no runbook: no baton.toml, and no file in .baton/runbooks.\n${UNCHECKED}`,
    });
  });

  it.each([
    ['', 'nothing would be checked before a merge: the runbook does not set ci.required'],
    ['[ci]\nprotected = ["x"]\n', 'nothing would be checked before a merge: the runbook does not set ci.required'],
    ['ci.required = []\n', 'nothing is checked before a merge: ci.required is empty'],
  ])('reports that nothing is checked: %j', async (toml, note) => {
    const folder = repository({ 'baton.toml': toml });
    const { code, out } = await runCli(['runbook', 'check', '--project', folder]);
    expect([code, out]).toEqual([0, expect.stringMatching(new RegExp(`\nnote: ${note}\n$`))]);
    const json = await runCli(['runbook', 'check', '--project', folder, '--json']);
    expect(JSON.parse(json.out)).toEqual({ valid: true, problems: [], notes: [note] });
  });

  it('shows every problem with its line and a caret, those of prompt files too, and exits 1', async () => {
    const folder = repository({ 'baton.toml': GOOD, 'a.md': 'Do\n${var.y} \u001b[31m\n' });
    const { code, out, err } = await runCli(['runbook', 'check', '--project', folder]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err.split('\n')).toEqual([
      'Error: unknown variable: ${var.y} (no caller of agent a sets it) [runbook/unknown-variable]',
      '  at a.md:2:1 (agents.a.prompt_file)',
      '  2 | ${var.y} \\u001b[31m',
      '    | ^',
      '  hint: There are no variables: declare it.',
      '',
    ]);
  });

  it('checks the named files as one runbook', async () => {
    const folder = repository({
      'x.toml': '[agents.a]\nrun = "./agent"\n',
      'y.json': '{"workers": {"w": {"run": {"agent": "a"}}}}',
    });
    const files = ['x.toml', 'y.json'].map((name) => join(folder, name));
    expect(await runCli(['runbook', 'check', ...files, '--project', folder])).toMatchObject({ code: 0 });
    expect(await runCli(['runbook', 'check', files[1] ?? '', '--project', folder])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Error: there is no agent a [runbook/unknown-agent]\n  at y.json:1:37 '),
    });
    expect(await runCli(['runbook', 'check', join(folder, 'none.toml'), '--project', folder])).toMatchObject({
      code: 1,
      err: 'Error: cannot read none.toml: there is no such file [unreadable-file]\n  in none.toml\n  hint: Check the path.\n',
    });
  });

  it('prints the problems as data with --json', async () => {
    const folder = repository({ 'baton.toml': 'x = 1\n' });
    const { code, out } = await runCli(['runbook', 'check', '--project', folder, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      problems: [
        {
          code: 'unknown-field',
          message: 'Unknown field: x',
          path: 'x',
          file: 'baton.toml',
          line: 1,
          column: 1,
          hint: expect.any(String),
        },
      ],
    });
  });
});

const SHIPPED =
  'Workflows, shipped with Baton:\n' +
  '  baton run issue [title] [--task <ids>] [--mode <mode>] [--priority <n>] [--id <id>] [--after <ids>]  ' +
  'issue-manager (claude) → prep (builtin:prep) → implementer (claude) → reviewer (claude) → fixer (claude) → ' +
  'validator (builtin:validator) → closer (builtin:closer)\n';

describe('baton runbook list', () => {
  it('lists all runnables with their usage', async () => {
    const { code, out } = await runCli(['runbook', 'list', '--project', repository({ 'baton.toml': GOOD })]);
    expect({ code, out }).toEqual({
      code: 0,
      out: `Commands:\n  baton run c <x>  echo \${var.x}\n\nAgents:\n  baton agent run a  claude\n\n${SHIPPED}`,
    });
  });

  it('has the workflow that Baton ships, as the project plays it, unless the project defines another of its name', async () => {
    expect(await runCli(['runbook', 'list', '--project', repository({})])).toEqual({ code: 0, out: SHIPPED, err: '' });
    const played = repository({ 'baton.toml': '[agents.reviewer]\nrun = "codex"\nrole = "reviewer"\n' });
    const { out } = await runCli(['runbook', 'list', '--project', played]);
    expect(out).toContain('→ reviewer (codex) →');
    const own = repository({ 'baton.toml': '[commands.issue]\nrun = "echo mine"\n' });
    expect(await runCli(['runbook', 'list', '--project', own])).toMatchObject({
      out: 'Commands:\n  baton run issue  echo mine\n',
    });
  });

  it('prints the same as data with --json', async () => {
    const { out } = await runCli(['runbook', 'list', '--json', '--project', repository({ 'baton.toml': GOOD })]);
    expect(JSON.parse(out)).toEqual({
      workflows: [
        {
          name: 'issue',
          usage: 'baton run issue [title] [--task <ids>] [--mode <mode>] [--priority <n>] [--id <id>] [--after <ids>]',
          shipped: true,
          roles: expect.arrayContaining([{ role: 'prep', runs: 'builtin:prep' }]),
        },
      ],
      commands: [{ name: 'c', usage: 'baton run c <x>', runs: 'echo ${var.x}' }],
      pipelines: [],
      agents: [{ name: 'a', usage: 'baton agent run a', runs: 'claude' }],
      workers: [],
    });
  });

  it('names the first problem of a runbook that is not valid', async () => {
    const { code, err } = await runCli(['runbook', 'list', '--project', repository({ 'baton.toml': '[agents.a]\n' })]);
    expect({ code, err }).toEqual({
      code: 1,
      err: 'Error: the runbook is not valid: baton.toml:1:1: Missing required field: agents.a.run [missing-field]\n  hint: See everything: baton runbook check\n',
    });
  });
});

describe('baton validate runbook', () => {
  it('reads a file by its ending, and standard input by how it begins', async () => {
    const folder = repository({ 'x.yaml': 'agents: { a: { run: ./agent } }\n' });
    expect(await runCli(['validate', 'runbook', join(folder, 'x.yaml')])).toMatchObject({ code: 0 });
    for (const text of ['[agents.a]\nrun = "x"\n', 'agents: {a: {run: x}}\n', '{"agents": {"a": {"run": "x"}}}', '']) {
      expect(await runCli(['validate', 'runbook', '-'], text)).toEqual({
        code: 0,
        out: 'standard input: valid runbook\n',
        err: '',
      });
    }
  });

  it('shows the problems', async () => {
    const { code, err } = await runCli(['validate', 'runbook', '-'], '[agents.a]\nrun = 5\n');
    expect(code).toBe(1);
    expect(err).toContain(
      'Error: Field agents.a.run must be a string [wrong-type]\n  at <stdin>:2:7 (agents.a.run)\n  2 | run = 5\n',
    );
  });
});
