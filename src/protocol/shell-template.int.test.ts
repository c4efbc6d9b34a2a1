import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { someOf } from '../../test/lanes.ts';
import { renderTemplate } from './text/render-template.ts';

/**
 * Every command runs in real shells in an empty folder: an executed value would create a file there, or change the
 * output.
 */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-shell-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const SHELLS = ['/bin/sh', '/bin/bash'] as const;

const VICIOUS = [
  "'; touch hacked; '",
  '"; touch hacked; "',
  '$(touch hacked)',
  '`touch hacked`',
  '; touch hacked',
  '&& touch hacked',
  '| touch hacked',
  '> hacked',
  '\n touch hacked\n',
  "'\ntouch hacked\n'",
  '\\',
  '\\"; touch hacked; \\"',
  "\\'; touch hacked; \\'",
  '${HOME}',
  '$HOME',
  '${baton_1}',
  '!!',
  '*',
  '~',
  '#',
  '-n',
  '--help',
  '  two  spaces  ',
  "it's",
  'EOF',
  'EOF\ntouch hacked\n',
  '"',
  "'",
  "''",
  '$',
  '',
  'a\tb\r\nc',
  'é 😀',
];

/** Commands with a slot in each quoting context, and what they print. */
const PLACES: readonly (readonly [name: string, command: string, printed: (value: string) => string])[] = [
  ['as a word', 'printf "<%s>" ${var.x}', (x) => `<${x}>`],
  ['twice', 'printf "<%s>" ${var.x} ${var.x}', (x) => `<${x}><${x}>`],
  ['in a word', 'printf "<%s>" a${var.x}b', (x) => `<a${x}b>`],
  ['in double quotes', 'printf "<%s>" "say ${var.x}."', (x) => `<say ${x}.>`],
  ['alone in double quotes', 'printf "<%s>" "${var.x}"', (x) => `<${x}>`],
  ['after single quotes', `printf '<%s>' 'it is' \${var.x}`, (x) => `<it is><${x}>`],
  ['in an assignment', 'y=${var.x}; printf "<%s>" "$y"', (x) => `<${x}>`],
  ['in a substitution', 'printf "<%s>" "$(printf "%s" ${var.x}; printf .)"', (x) => `<${x}.>`],
  ['in quotes in a substitution', 'printf "<%s>" "$(printf "%s" "${var.x}"; printf .)"', (x) => `<${x}.>`],
  ['in backticks', 'printf "<%s>" `printf "%s" ${var.x} > copy; printf .`; cat copy; rm copy', (x) => `<.>${x}`],
  ['after a comment with an apostrophe', '# don\'t\nprintf "<%s>" ${var.x}', (x) => `<${x}>`],
  ['in a comment', '# ${var.x}\nprintf done', () => 'done'],
  ['in a here-document', 'cat <<EOF\nsay "${var.x}"\nEOF\nprintf "<%s>" ${var.x}', (x) => `say "${x}"\n<${x}>`],
  ['after a here-document with an apostrophe', 'cat <<EOF\nit\'s\nEOF\nprintf "<%s>" ${var.x}', (x) => `it's\n<${x}>`],
  ['in a test', 'if [ ${var.x} = ${var.x} ]; then printf same; fi', () => 'same'],
  ['as a pattern', 'case ${var.x} in ${var.x}) printf same;; esac', () => 'same'],
  ['after an escaped quote', 'printf "<%s>" \\" ${var.x}', (x) => `<"><${x}>`],
  ['in a function', 'f() { printf "<%s>" "$@"; }; f ${var.x} b', (x) => `<${x}><b>`],
];

/** Returns the output of each command; one process runs them one after the other. */
function runAll(shell: string, commands: readonly string[]): string[] {
  const scripts = mkdtempSync(join(tmpdir(), 'baton-scripts-'));
  try {
    commands.forEach((command, i) => writeFileSync(join(scripts, String(i).padStart(6, '0')), command));
    const driver = `for script in ${scripts}/*; do ${shell} "$script" </dev/null 2>/dev/null; printf '\\001'; done`;
    const { stdout } = spawnSync('/bin/sh', ['-c', driver], {
      cwd: folder,
      encoding: 'utf8',
      env: ENV,
      maxBuffer: 2 ** 26,
    });
    return stdout.split('\u0001').slice(0, -1);
  } finally {
    rmSync(scripts, { recursive: true });
  }
}

const ENV = { PATH: process.env['PATH'] };

function commandWith(command: string, x: string): string {
  const rendered = renderTemplate(command, { vars: { x } }, { quote: 'shell' });
  if (!rendered.ok) throw new Error(rendered.problems[0].message);
  return rendered.value;
}

const value = fc.string({ unit: fc.constantFrom(...Array.from('\'"`$(){};&|<>\\ \n#*!~-ax=')), maxLength: 20 });
const PIECES = [
  ['"', "'", '`', '$(', ')', '(', '<<EOF\n', '\nEOF\n', '#', '\\', ' ', '\n', ';', '$((', '))'],
  ['echo ', '${var.x}', '${var.x}', '$${', '}'],
].flat();
const piece = fc.constantFrom(...PIECES);
const nonsense = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

describe.each(someOf(SHELLS, 0))('a value in a command of %s', (shell) => {
  it.each(PLACES)('is never executed: %s', (_, command, printed) => {
    const values = [...VICIOUS, ...fc.sample(value, 20)];
    const out = runAll(
      shell,
      values.map((x) => commandWith(command, x)),
    );
    expect(values.map((x, i) => ({ x, out: out[i] }))).toEqual(values.map((x) => ({ x, out: printed(x) })));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not executed in malformed commands', () => {
    const x = '\'"; touch hacked; $(touch hacked) `touch hacked`\ntouch hacked\nEOF\ntouch hacked\n';
    const commands = fc.sample(nonsense, 500).flatMap((command) => {
      const rendered = renderTemplate(command, { vars: { x } }, { quote: 'shell' });
      return rendered.ok && rendered.value.includes('${baton_1}') ? [rendered.value] : [];
    });
    expect(commands.length).toBeGreaterThan(50);
    runAll(shell, commands);
    expect(readdirSync(folder).filter((name) => name.includes('hacked'))).toEqual([]);
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
  });

  it('would be executed if it were written into the command', () => {
    runAll(shell, [`echo "$(touch hacked)"`]);
    expect(readdirSync(folder)).toEqual(['hacked']);
    rmSync(join(folder, 'hacked'));
  });
});

describe('a command with values', () => {
  const shell = (command: string, x: string): unknown => {
    const rendered = renderTemplate(command, { vars: { x } }, { quote: 'shell' });
    return rendered.ok ? rendered.value : rendered.problems.map(({ code, message }) => `${code}: ${message}`);
  };

  it('assigns them to variables and refers to these', () => {
    expect(shell('echo ${var.x} "and ${var.x}"', "it's")).toBe(
      "baton_1='it'\\''s'\necho \"${baton_1}\" \"and ${baton_1}\"",
    );
  });

  it('is unchanged if it has no slots', () => {
    expect(shell('echo "$HOME" $${HOME}', '')).toBe('echo "$HOME" ${HOME}');
  });

  it.each([
    ["echo '${var.x}'", 'template in single quotes'],
    ["cat <<'EOF'\n${var.x}\nEOF", 'template in a here-document whose end is quoted'],
    ['cat <<\\EOF\n${var.x}\nEOF', 'template in a here-document whose end is quoted'],
    ['echo $((${var.x} + 1))', 'template in an arithmetic expression'],
    ['((${var.x} + 1))', 'template in an arithmetic expression'],
    ['echo \\${var.x}', 'template after a backslash'],
  ])('%j is refused: %s', (command, what) => {
    expect(shell(command, '1')).toEqual([`invalid-template: ${what}: \${var.x}`]);
  });

  it('refuses NUL characters and commands that are too long', () => {
    expect(shell('echo ${var.x}', 'a\0b')).toEqual(['invalid-value: the value of ${var.x} holds a NUL character']);
    expect(shell('echo ${var.x}', 'x'.repeat(120_000))).toEqual([
      'too-large: command too long: 120028 bytes with its values > 120000 bytes maximum',
    ]);
  });

  it('may be as long as the limit', () => {
    const { stdout } = spawnSync('/bin/sh', ['-c', String(shell('printf %s ${var.x} | wc -c', 'x'.repeat(119_900)))], {
      encoding: 'utf8',
    });
    expect(stdout.trim()).toBe('119900');
  });

  it('is scanned in linear time', () => {
    for (const unit of ['"', "'", '$(', '`', '<<EOF\n', '#', '\\', '(', '$((', '${var.x}', "'${var.x}'"]) {
      const start = performance.now();
      shell(unit.repeat(100_000 / unit.length), 'x');
      expect(performance.now() - start).toBeLessThan(2_000);
    }
  });
});
