import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askedAtMerge, type BranchWork } from '../processes/merge-scene.ts';
import type { World } from '../processes/world.ts';

const writes =
  (files: Readonly<Record<string, string>>): BranchWork =>
  (world) =>
    world.write(world.repository, files);
const at = ({ repository }: World, path: string): string => join(repository, path);

/** Each stands beside an ordinary change that a lenient reviewer has approved. */
const SCRIPTS: readonly (readonly [string, string, BranchWork])[] = [
  ['the script', 'ci/run.sh', writes({ 'ci/run.sh': 'true\n' })],
  ['what the script imports', 'ci/lib.sh', writes({ 'ci/lib.sh': 'exit 0\n' })],
  ['the deleted script', 'ci/run.sh', (world) => rmSync(at(world, 'ci/run.sh'))],
  ['only the mode of the script', 'ci/run.sh', (world) => chmodSync(at(world, 'ci/run.sh'), 0o755)],
  ['a committed program', 'node_modules/.bin/tsc', writes({ 'node_modules/.bin/tsc': 'true\n' })],
  [
    'a link in place of its folder',
    'ci',
    (world) => {
      renameSync(at(world, 'ci'), at(world, 'other'));
      symlinkSync('other', at(world, 'ci'));
    },
  ],
];

const PLANTED: readonly (readonly [string, string, BranchWork])[] = [
  ['a renamed file', '.envrc', (world) => renameSync(at(world, 'ci/notes.md'), at(world, '.envrc'))],
  ['another case', '.MCP.json', writes({ '.MCP.json': '{}' })],
  ['a new nested folder', 'a/b/.cursor/mcp.json', writes({ 'a/b/.cursor/mcp.json': '{}' })],
  ['a deleted file', '.vscode/tasks.json', (world) => rmSync(at(world, '.vscode/tasks.json'))],
  ['only the mode', '.vscode/tasks.json', (world) => chmodSync(at(world, '.vscode/tasks.json'), 0o755)],
  [
    'a link to a folder of the branch',
    '.devcontainer',
    (world) => {
      world.write(world.repository, { 'docs/dev/devcontainer.json': '{}' });
      mkdirSync(dirname(at(world, '.devcontainer')), { recursive: true });
      symlinkSync('docs/dev', at(world, '.devcontainer'));
    },
  ],
];

describe.each([
  ['of a required check', SCRIPTS],
  ['that run code by themselves', PLANTED],
])('files %s', (_, rows) => {
  it.each(rows)('ask a person: %s', async (__, path, work) => {
    const { asked, merged } = await askedAtMerge((world) => {
      world.write(world.repository, { 'src/a.js': '2\n' });
      work(world);
    });
    expect(merged).toBe(false);
    expect(asked).toContain(`  ${path}\n`);
    expect(asked).not.toContain('src/a.js');
  });
});
