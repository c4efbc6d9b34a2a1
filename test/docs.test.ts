import { execFile, execFileSync, type ExecFileOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installStandIn } from './claude-stand-in/install-stand-in.ts';
import { PAGES, readBlocks, ROOT, stepsOf } from './docs/blocks.ts';
import { brokenLinks } from './docs/broken-links.ts';
import { isLongLane } from './lanes.ts';
import { BATON, COMPILE_CACHE } from './package/where.ts';
import { withoutSandbox } from './sandbox-words.ts';

/**
 * Runs every example in the documentation. A `ts` block is a module whose `console.log(…); // → text` lines must print
 * that text. The other blocks of a page are one session in a new repository. In a `console` block, lines with `$ ` are
 * commands, and the lines below are their output, including errors; an `sh` block is a script that must succeed. Ids
 * and ages differ from run to run: an id in the documentation is replaced by the actual id at its place, also in later
 * commands.
 */
const SOURCE_EXPORTS = join(ROOT, 'test/package/source-exports.ts');
const blocks = PAGES.flatMap((page) => readBlocks(page));
const programs = blocks.filter(({ language }) => language === 'ts');
const sessions = PAGES.map((page) => ({
  page,
  steps: blocks.filter((block) => block.page === page).flatMap(stepsOf),
})).filter(({ steps }) => steps.some((step) => !('file' in step)));
/**
 * The pages that a new user follows. The others run in the long lane, and whenever this file is named: `npm test --
 * docs`.
 */
const FIRST_PAGES = new Set(['README.md', 'docs/tutorial.md', 'docs/tasks.md', 'docs/workflow.md']);

/** `baton` as a person types it, who agrees to a runbook that asks for more than the defaults: in a terminal with one key. */
const TYPED = `
typed() { "${process.execPath}" "${BATON}" "$@"; }
baton() {
  refused=$(mktemp)
  typed "$@" 2> "$refused" && code=0 || code=$?
  hash=$(sed -n 's/.*--accept-rules \\([0-9a-f]\\{64\\}\\).*/\\1/p' "$refused")
  if [ $code = 3 ] && [ -n "$hash" ]; then
    rm "$refused"
    typed runbook adopt --accept-rules "$hash" > /dev/null
    typed "$@"
    return $?
  fi
  cat "$refused" >&2
  rm "$refused"
  return $code
}`;

/** A repository with one commit and the examples; each page gets a copy. */
let withExamples: string;
beforeAll(() => {
  withExamples = mkdtempSync(join(tmpdir(), 'baton-docs-'));
  cpSync(join(ROOT, 'examples'), join(withExamples, 'examples'), { recursive: true });
  commitAll(withExamples);
});
afterAll(() => rmSync(withExamples, { recursive: true }));

describe('the documentation', () => {
  it('has examples of both kinds', () => {
    expect(programs.length).toBeGreaterThan(5);
    expect(sessions.map(({ page }) => page)).toEqual(expect.arrayContaining([...FIRST_PAGES]));
  });

  it.concurrent.for(programs)('$page:$line runs as a program', async ({ text }, { expect, onTestFinished }) => {
    // Both lanes may run at the same time, and each removes its file.
    const file = join(ROOT, `.docs-example-${randomUUID()}.ts`);
    onTestFinished(() => rmSync(file));
    writeFileSync(file, text);
    const { stdout, stderr } = await run(process.execPath, ['--import', SOURCE_EXPORTS, file], {
      env: { ...process.env, ...COMPILE_CACHE },
    });
    expect(stderr).toBe('');
    expect(stdout.trimEnd()).toBe(expectedOutput(text));
  });

  it.concurrent.for(sessions.filter(({ page }) => isLongLane || FIRST_PAGES.has(page)))(
    '$page runs as a session in a shell',
    async ({ page, steps }, { expect, onTestFinished }) => {
      const { cwd, shell, remove } = page === 'docs/tutorial.md' ? newLibrary() : newRepository();
      onTestFinished(remove);
      const ids = new Map<string, string>();
      const withIds = (text: string): string => text.replaceAll(IDS, (id) => ids.get(id) ?? id);
      for (const step of steps) {
        if ('file' in step) {
          mkdirSync(join(cwd, dirname(step.file)), { recursive: true });
          writeFileSync(join(cwd, step.file), step.text);
          continue;
        }
        if ('script' in step) {
          expect(await shell(`set -e\n${withIds(step.script)}\necho\necho succeeded`)).toMatch(/^succeeded$/m);
          continue;
        }
        const { command, output } = step;
        // On a busy machine the first command waits for the daemon and prints a line about it, which is removed.
        const said = (await shell(withIds(command))).replace(/^Waiting for the daemon.*\n/m, '');
        const found = said.match(IDS) ?? [];
        for (const [i, id] of (output.match(IDS) ?? []).entries()) if (!ids.has(id)) ids.set(id, found[i] ?? id);
        expect(`$ ${command}\n${portable(said)}`).toBe(`$ ${command}\n${portable(withIds(output))}`);
      }
    },
  );

  it('links only to files that are in the package too', () => {
    const { files }: { files: string[] } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const packed = globSync(['README.md', 'LICENSE', ...files.flatMap((name) => [name, `${name}/**`])], { cwd: ROOT });
    const folders = packed.map((path) => dirname(path));
    const targets = new Set([...packed, ...folders]);
    const pages = packed.filter((path) => path.endsWith('.md'));
    expect(pages).toEqual(expect.arrayContaining([...PAGES, 'SECURITY.md']));
    expect(pages.flatMap((page) => brokenLinks(page, (path) => targets.has(path), ROOT))).toEqual([]);
  });
});

/** The prefix of a random id, as commands show it. */
const IDS = /(?<![\w-])[0-9a-f]{8}(?![\w-])/g;

function portable(text: string): string {
  const plain = withNarrowHeadings(ageless(withoutSandbox(text)));
  return plain.replaceAll(/\b(?:[0-9a-f]{40}|[0-9a-f]{12})\b/g, 'COMMIT');
}

function ageless(text: string): string {
  // Ages are replaced, because a longer age widens its column.
  return text.replaceAll(/\b\d{1,2}[smhd]\b( ?) */g, '0s$1');
}

/** Normalizes the headings of a list, which are as wide as its cells and so depend on the machine. */
function withNarrowHeadings(text: string): string {
  return text.replaceAll(/^[A-Z]{2,}(?: {2,}[A-Z→ ]+)+$/gm, (line) => line.replaceAll(/ {2,}/g, '  '));
}

interface Repository {
  readonly cwd: string;
  readonly shell: (command: string) => Promise<string>;
  readonly remove: () => Promise<void>;
}

/** A repository with one commit and the examples, a separate state folder, and a shell. */
function newRepository(): Repository {
  const folder = mkdtempSync(join(tmpdir(), 'baton-docs-'));
  cpSync(withExamples, join(folder, 'repository'), { recursive: true });
  return openRepository(folder, process.env['PATH'] ?? '');
}

/** For the tutorial: a small library without a runbook, and a `claude` that needs no model. */
function newLibrary(): Repository {
  const folder = mkdtempSync(join(tmpdir(), 'baton-docs-'));
  for (const part of ['package.json', 'src', 'test'])
    cpSync(join(ROOT, 'examples/sample', part), join(folder, 'repository', part), { recursive: true });
  commitAll(join(folder, 'repository'));
  return openRepository(folder, `${installStandIn(folder)}:${process.env['PATH']}`);
}

function openRepository(folder: string, path: string): Repository {
  const cwd = join(folder, 'repository');
  const env = {
    ...COMPILE_CACHE,
    PATH: path,
    HOME: folder,
    BATON_RESTART: 'off',
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...AUTHOR,
  };
  const shell = async (command: string): Promise<string> => {
    const script = `${TYPED}\n(${command}) 2>&1`;
    return (await run('bash', ['-c', script], { cwd, env })).stdout.trimEnd();
  };
  const remove = async (): Promise<void> => {
    if (existsSync(join(folder, '.local/state/baton'))) await shell('baton down');
    rmSync(folder, { recursive: true });
  };
  return { cwd, shell, remove };
}

function commitAll(cwd: string): void {
  const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', ...AUTHOR };
  const git = (...args: string[]) => execFileSync('git', args, { cwd, env });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message=Begin');
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** Runs a program and returns its output, with any exit code. */
async function run(command: string, args: readonly string[], options: ExecFileOptions = {}): Promise<Printed> {
  return new Promise((resolve) => {
    const child = execFile(command, args, options, (_error, stdout, stderr) =>
      resolve({ stdout: String(stdout), stderr: String(stderr) }),
    );
    child.stdin?.end();
  });
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

function expectedOutput(text: string): string {
  return [...text.matchAll(/\/\/ → (.*)$/gm)].map((match) => match[1]).join('\n');
}
