import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  it('are the commands, word by word', async () => {
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
  /** Returns bash's completions for a line when Tab is pressed at its end. */
  const complete = (line: string): string[] => {
    const script = `source <(baton completion bash)
      COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=($1) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMP_WORDBREAKS=$' \\t\\n:'
      _baton; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script, 'bash', line], { encoding: 'utf8', env: pathWithBaton() })
      .trim()
      .split('\n');
  };

  it('completes commands and options', () => {
    expect(complete('baton decision re')).toEqual(['resolve', 'review']);
    expect(complete('baton decision ')).toEqual(['list', 'resolve', 'review', 'show', 'undo']);
    expect(complete('baton status --wa')).toEqual(['--watch']);
  });

  it('completes only what follows a colon', () => {
    expect(complete('baton emit agent:s')).toEqual(['signal', 'stop']);
  });
});

const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).error === undefined;

/** A folder for PATH in which `baton` is what is tested. */
function pathWithBaton(): { PATH: string; HOME: string } {
  const folder = mkdtempSync(join(tmpdir(), 'baton-completion-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(BATON, join(folder, 'baton'));
  return { PATH: `${folder}:${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder };
}

describe.skipIf(!hasProgram('zsh'))('zsh', () => {
  const complete = (line: string): string[] => {
    const script = `compdef() {}; compadd() { print -rl -- $found }; _files() { print files }
      source <(baton completion zsh); words=("\${(@s: :)1}") CURRENT=$#words; _baton`;
    return execFileSync('zsh', ['-f', '-c', script, 'zsh', line], { encoding: 'utf8', env: pathWithBaton() })
      .trim()
      .split('\n');
  };

  it('completes commands and values, and files if there are none', () => {
    expect(complete('baton decision re')).toEqual(['resolve', 'review']);
    expect(complete('baton decision ')).toEqual(['list', 'resolve', 'review', 'show', 'undo']);
    expect(complete('baton task list --status d')).toEqual(['done']);
    expect(complete('baton validate exit ')).toEqual(['files']);
  });
});

describe.skipIf(!hasProgram('fish'))('fish', () => {
  const complete = (line: string): string[] => {
    const env = pathWithBaton();
    writeFileSync(join(env.HOME, 'some-file'), '');
    const script = 'baton completion fish | source; complete -C "$argv[1]"';
    const args = ['--no-config', '-c', script, line];
    return execFileSync('fish', args, { encoding: 'utf8', env, cwd: env.HOME }).trim().split('\n');
  };

  it('completes commands and values, and files if there are none', () => {
    expect(complete('baton decision re')).toEqual(['resolve', 'review']);
    expect(complete('baton decision ')).toEqual(['list', 'resolve', 'review', 'show', 'undo']);
    expect(complete('baton task list --status d')).toEqual(['done']);
    expect(complete('baton validate exit some')).toEqual(['some-file']);
  });
});
