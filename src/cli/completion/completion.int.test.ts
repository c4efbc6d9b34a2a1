import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../../test/run-cli.ts';
import { COMMANDS } from '../commands.ts';
import { BATON } from '../../../test/package/where.ts';

const words = async (...typed: string[]): Promise<string[]> => {
  const { out } = await runCli(['completion', '--words', '--', ...typed]);
  return out.split('\n').filter((word) => word !== '');
};

describe('the words that fit', () => {
  it('are the commands, by their parts', async () => {
    const first = new Set(COMMANDS.map(({ name }) => name.replace(/ .*/, '')));
    expect(await words('')).toEqual([...first].toSorted());
    expect(await words('pip')).toEqual(['pipeline']);
    expect(await words('decision', '')).toEqual(['list', 'resolve', 'review', 'show', 'undo']);
    expect(await words('emit', 'agent:')).toEqual(['agent:idle', 'agent:signal', 'agent:stop']);
    expect(await words('nothing', '')).toEqual([]);
    expect(await words('web', '')).toEqual(['keys']);
    expect(await words('web', 'keys', '')).toEqual(['revoke']);
    expect(await words('help', 'p')).toEqual(['people', 'pipeline', 'project']);
    expect(await words('help', 'thought', '')).toEqual(['list', 'record', 'template']);
  });

  it('are the options of a command', async () => {
    expect(await words('run', 'ship', '--p')).toEqual(['--plan', '--project']);
    expect(await words('status', '--w')).toEqual(['--watch']);
    expect(await words('pipeline', 'cancel', '--reason', '')).toEqual([]);
  });

  it('are the only values that an argument or an option can have', async () => {
    expect(await words('schema', 'm')).toEqual(['mission']);
    expect(await words('validate', 'exit', '')).toEqual([]);
    expect(await words('task', 'list', '--status', 'd')).toEqual(['done']);
    expect(await words('task', 'list', '--phase', 'REVIEW', '--status', 't')).toEqual(['todo']);
  });
});

it('refuses a shell it does not know', async () => {
  expect(await runCli(['completion', 'bsh'])).toEqual({
    code: 2,
    out: '',
    err: 'Error: unknown shell: bsh [usage]\n  hint: Did you mean `bash`?\n',
  });
});

it.each(['zsh', 'fish', 'powershell'])('has a script for %s', async (shell) => {
  expect((await runCli(['completion', shell])).out).toContain('baton completion --words');
});

describe('bash', () => {
  /** What bash makes of a line when Tab is pressed at its end. */
  const complete = (line: string): string[] => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-completion-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    symlinkSync(BATON, join(folder, 'baton'));
    const script = `source <(baton completion bash)
      COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=($1) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMP_WORDBREAKS=$' \\t\\n:'
      _baton; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${folder}:${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder };
    return execFileSync('bash', ['-c', script, 'bash', line], { encoding: 'utf8', env }).trim().split('\n');
  };

  it('completes commands and options', () => {
    expect(complete('baton decision re')).toEqual(['resolve', 'review']);
    expect(complete('baton decision ')).toEqual(['list', 'resolve', 'review', 'show', 'undo']);
    expect(complete('baton status --wa')).toEqual(['--watch']);
  });

  it('completes behind a colon only what is behind it', () => {
    expect(complete('baton emit agent:s')).toEqual(['signal', 'stop']);
  });
});
