import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkPromptFiles } from '../check/check-files.ts';
import { readRunbook, readRunbookFiles, createRunbookReader } from './read-runbook.ts';

function project(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-runbook-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function problemsIn(folder: string): Promise<string[]> {
  const { checked } = await readRunbook(folder);
  return checked.ok
    ? []
    : checked.problems.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
}

describe('the runbook of a project', () => {
  it('is baton.toml and everything in .baton/runbooks, whatever its syntax', async () => {
    const folder = project({
      'baton.toml': '[agents.a]\nrun = "./agent"\n',
      '.baton/runbooks/b.yaml': 'agents: { b: { run: ./agent } }\n',
      '.baton/runbooks/c.yml': 'agents: { c: { run: ./agent } }\n',
      '.baton/runbooks/d.json': '{ "agents": { "d": { "run": "./agent" } } }',
      '.baton/runbooks/e.toml': '[agents.e]\nrun = "./agent"\n',
      '.baton/runbooks/README.md': '# not a runbook',
      '.baton/runbooks/.draft.toml': 'nor = "this"',
    });
    const { checked, files } = await readRunbook(folder);
    expect(checked.ok && [...checked.value.agents.keys()]).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(files.map(({ path }) => path)).toEqual([
      'baton.toml',
      ...['b.yaml', 'c.yml', 'd.json', 'e.toml'].map((name) => `.baton/runbooks/${name}`),
    ]);
  });

  it('is empty without files', async () => {
    expect(await problemsIn(project({}))).toEqual([]);
    expect(await problemsIn(join(project({}), 'not', 'there'))).toEqual([]);
  });

  it('may begin with the mark that some editors add', async () => {
    const folder = project({ 'baton.toml': '\ufeffagnets = 1\n', '.baton/runbooks/a.yaml': '\ufeffnotfy: 1\n' });
    expect(await problemsIn(folder)).toEqual([
      'baton.toml:1:1 Unknown field: agnets',
      '.baton/runbooks/a.yaml:1:1 Unknown field: notfy',
    ]);
  });

  it('names the unreadable file and the reason', async () => {
    const folder = project({
      'baton.toml': new Uint8Array([0x61, 0xff]),
      '.baton/runbooks/a.toml': '',
      '.baton/runbooks/c.toml/x': '',
    });
    truncateSync(join(folder, '.baton/runbooks/a.toml'), 2 ** 40);
    execFileSync('mkfifo', [join(folder, '.baton/runbooks/b.toml')]);
    symlinkSync('/dev/zero', join(folder, '.baton/runbooks/d.toml'));
    symlinkSync('nowhere', join(folder, '.baton/runbooks/e.toml'));
    expect(await problemsIn(folder)).toEqual([
      'baton.toml:null:null input is not valid UTF-8',
      '.baton/runbooks/a.toml:null:null input too large: 1099511627776 bytes > 262144 bytes maximum',
      '.baton/runbooks/b.toml:null:null cannot read .baton/runbooks/b.toml: it is not a file',
      '.baton/runbooks/c.toml:null:null cannot read .baton/runbooks/c.toml: it is not a file',
      '.baton/runbooks/d.toml:null:null cannot read .baton/runbooks/d.toml: it is not a file',
      '.baton/runbooks/e.toml:null:null cannot read .baton/runbooks/e.toml: there is no such file',
    ]);
  });
});

describe('a runbook that is watched', () => {
  it('is read once while unchanged, and again after a change', () => {
    const folder = project({ 'baton.toml': 'exit_protocol = true\n' });
    const current = createRunbookReader(folder);
    const first = current();
    expect(current()).toBe(first);
    writeFileSync(join(folder, 'baton.toml'), 'exit_protocol = false\n');
    const second = current();
    expect(second.checked).toMatchObject({ ok: true, value: { exitProtocol: false } });
    mkdirSync(join(folder, '.baton/runbooks'), { recursive: true });
    writeFileSync(join(folder, '.baton/runbooks/a.toml'), '[merge]\n');
    expect(current().checked).toMatchObject({ ok: true, value: { merge: { method: 'squash' } } });
  });
});

describe('prompt files', () => {
  const toml =
    '[agents.a]\nrun = "claude"\nprompt_file = "prompts/a.md"\n[pipelines.p]\nvars = ["title"]\nsteps = [{ name = "s", run = { agent = "a" } }]\n';

  const check = (files: Readonly<Record<string, string>>): string[] => {
    const folder = project({ 'baton.toml': toml, ...files });
    const { problems } = checkPromptFiles(folder, readRunbookFiles(folder, ['baton.toml']));
    return problems.map(({ file, line, column, code, message }) => `${file}:${line}:${column} ${code} ${message}`);
  };

  it('must be there', () => {
    expect(check({})).toEqual([
      'baton.toml:3:15 runbook/missing-prompt-file agent a cannot use the prompt prompts/a.md: there is no such file',
    ]);
  });

  it('must not be empty for a model client', () => {
    expect(check({ 'prompts/a.md': ' \n\t\n' })).toEqual([
      'baton.toml:3:15 runbook/no-prompt agent a has no prompt: prompts/a.md is empty',
    ]);
  });

  it('hold templates like any prompt', () => {
    expect(check({ 'prompts/a.md': 'Do ${var.title} in $${HOME}\n' })).toEqual([]);
    expect(check({ 'prompts/a.md': 'Do it.\n\nIt is ${var.titel}.\n' })).toEqual([
      'prompts/a.md:3:7 runbook/unknown-variable unknown variable: ${var.titel} (pipeline p runs agent a)',
    ]);
  });
});

it('missing scripts of scripted agents are reported only by a check', () => {
  const text =
    '[agents]\na = { run = "scripted --command-hook a.yaml" }\nb = { run = "scripted b.yaml" }\nc = { run = "scripted ${env.X}.yaml" }\nd = { run = "scripted", prompt = "- stop" }\n';
  const folder = project({ 'baton.toml': text, 'b.yaml': '- stop\n' });
  const read = readRunbookFiles(folder, ['baton.toml']);
  expect(read.checked.ok).toBe(true);
  expect(checkPromptFiles(folder, read).problems).toEqual([
    {
      code: 'runbook/missing-script',
      message: 'agent a cannot play a.yaml: there is no such file',
      hint: 'Write the script, or correct the path: it is relative to the project.',
      path: 'agents.a.run',
      file: 'baton.toml',
      line: 2,
      column: 13,
    },
  ]);
});
