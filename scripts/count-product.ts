import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

/**
 * `node scripts/count-product.ts [--base COMMIT] [--check] [--root DIR]`: counts product files and lines of `src`,
 * without tests, cases, READMEs and images. With a base, also prints the ratios to that commit. With `--check`, the
 * exit code is 1 if a limit is exceeded.
 */
const MAX_LINES = 300;
const MAX_FILES_PER_FOLDER = 25;
const MAX_LINES_RATIO = 0.9;
const MAX_FILES_RATIO = 0.6;

type Lines = ReadonlyMap<string, string>;

const { values: options } = parseArgs({
  options: { base: { type: 'string' }, check: { type: 'boolean', default: false }, root: { type: 'string' } },
});
const root = options.root ?? join(import.meta.dirname, '..');
const exceeded: string[] = [];
const present = readWorkingTree();

console.log(`product files ${count(present.size)}`);
console.log(`product lines ${count(linesOf(present))}`);
if (options.base !== undefined) compareWith(options.base);
listFolders();
listLongFiles();
if (exceeded.length > 0) {
  console.log(`\nexceeded: ${exceeded.join('; ')}`);
  if (options.check) process.exitCode = 1;
}

function compareWith(commit: string): void {
  const base = readCommit(commit);
  console.log(`\nagainst ${commit}:`);
  limitRatio('files', present.size, base.size, MAX_FILES_RATIO);
  limitRatio('lines', linesOf(present), linesOf(base), MAX_LINES_RATIO);
}

function limitRatio(what: string, now: number, before: number, limit: number): void {
  const ratio = now / before;
  console.log(`  ${what} ${count(now)} / ${count(before)} = ${ratio.toFixed(3)} (limit ${limit.toFixed(2)})`);
  if (ratio > limit) exceeded.push(`${what} ratio ${ratio.toFixed(3)}`);
}

function listFolders(): void {
  const folders = Map.groupBy(present.keys(), (path) => dirname(path));
  console.log('\nfiles per folder:');
  for (const [folder, paths] of [...folders].toSorted(([a], [b]) => a.localeCompare(b))) {
    const isFull = paths.length > MAX_FILES_PER_FOLDER;
    console.log(`  ${String(paths.length).padStart(4)}  ${folder}${isFull ? `  over ${MAX_FILES_PER_FOLDER}` : ''}`);
    if (isFull) exceeded.push(`${folder} has ${paths.length} files`);
  }
}

function listLongFiles(): void {
  console.log(`\nfiles over ${MAX_LINES} lines:`);
  for (const [path, text] of present) {
    const lines = newlinesIn(text);
    if (lines <= MAX_LINES) continue;
    const hasReason = givesReason(text);
    console.log(`  ${String(lines).padStart(4)}  ${path}${hasReason ? '' : '  no reason in its first comment'}`);
    if (!hasReason) exceeded.push(`${path} has ${lines} lines`);
  }
}

/**
 * Reports whether the text gives a reason for its length. It must name the limit, "Over 300 lines because …", so that
 * it is deliberate.
 */
function givesReason(text: string): boolean {
  const first = /\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->|^(?:[ \t]*(?:\/\/|--).*\n)+/m.exec(text)?.[0] ?? '';
  return /\bover\s+(?:\W*\s)?300\s+(?:\W*\s)?lines\b/i.test(first);
}

function isProduct(path: string): boolean {
  return /^src\/.*\.(?:ts|js|sql|css|html)$/.test(path) && !/\.(?:test|cases)\.ts$/.test(path);
}

/** Reads only tracked files, so that build output in the folder does not count. */
function readWorkingTree(): Lines {
  const paths = git(['ls-files', '-z', 'src']).split('\0').filter(isProduct);
  return new Map(
    paths.filter((path) => existsSync(join(root, path))).map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
}

function readCommit(commit: string): Lines {
  const paths = git(['ls-tree', '-r', '-z', '--name-only', commit, 'src']).split('\0').filter(isProduct);
  const asked = paths.map((path) => `${commit}:${path}\n`).join('');
  let rest = execFileSync('git', ['cat-file', '--batch'], { cwd: root, input: asked, maxBuffer: 2 ** 28 });
  const texts = new Map<string, string>();
  for (const path of paths) {
    const header = rest.indexOf('\n');
    const size = Number(rest.toString('utf8', 0, header).split(' ')[2]);
    texts.set(path, rest.toString('utf8', header + 1, header + 1 + size));
    rest = rest.subarray(header + size + 2);
  }
  return texts;
}

function git(args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
}

function linesOf(texts: Lines): number {
  return texts.values().reduce((sum, text) => sum + newlinesIn(text), 0);
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}

function count(value: number): string {
  return value.toLocaleString('en');
}
