import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/**
 * Every example in the documentation runs. A `ts` block is a module whose `console.log(…); // → text` lines must print that
 * text; a `console` block is a session: lines with `$ ` are typed, the lines below are what comes back, errors included.
 */
const root = join(import.meta.dirname, '..');
const bin = join(root, 'bin/baton.cjs');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-docs-'));
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: root });
const blocks = pages.flatMap((page) => blocksOf(page));

describe('the documentation', () => {
  it('has examples of both kinds', () => {
    expect(blocks.some(({ language }) => language === 'ts')).toBe(true);
    expect(blocks.some(({ language }) => language === 'console')).toBe(true);
  });

  it.each(blocks.filter(({ language }) => language === 'ts'))(
    '$page:$line runs as a program',
    ({ text, page, line }) => {
      const file = join(root, `.docs-example-${page.replaceAll(/\W/g, '-')}-${line}.ts`);
      try {
        writeFileSync(file, text);
        const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=baton-source', file], {
          encoding: 'utf8',
          cwd: folder,
        });
        expect(stderr).toBe('');
        expect(stdout.trimEnd()).toBe(expectedOutput(text));
      } finally {
        rmSync(file);
      }
    },
  );

  it.each(blocks.filter(({ language }) => language === 'console'))('$page:$line runs in a shell', ({ text }) => {
    for (const { command, output } of commandsOf(text)) {
      const shell = `baton() { "${process.execPath}" "${bin}" "$@"; }\n(${command}) 2>&1`;
      const { stdout } = spawnSync('bash', ['-c', shell], { encoding: 'utf8', cwd: folder });
      expect(stdout.trimEnd()).toBe(output);
    }
  });

  it('has no link to a file that is not there', () => {
    const broken = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
        .map(([, target = '']) => join(page, '..', target))
        .filter((target) => globSync(target.replace(/\/$/, ''), { cwd: root }).length === 0)
        .map((target) => `${page} → ${target}`),
    );
    expect(broken).toEqual([]);
  });
});

interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): Block[] {
  const source = readFileSync(join(root, page), 'utf8');
  return [...source.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map((match) => ({
    page,
    line: source.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
}

function expectedOutput(text: string): string {
  return [...text.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1]).join('\n');
}

function commandsOf(text: string): { command: string; output: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n').trimEnd() };
    });
}
