import { describe, expect, it } from 'vitest';
import { CODE_FILES, CODE_FILE_PATTERNS, findCodeFiles, isInstructionFile, namesCodeFile } from './code-files.ts';

const KINDS: Readonly<Record<string, readonly string[]>> = {
  agent: [
    '.claude/settings.json', 'packages/a/.claude/hooks/x.sh', '.claude', '.CLAUDE/Settings.json', '.mcp.json', 'sub/.mcp.json', '.cursor/mcp.json', '.cursor/hooks.json', '.codex/config.toml',
    '.gemini/settings.json', '.qwen/settings.json', '.opencode/plugin/x.ts', 'opencode.json', '.windsurf/hooks.json', '.roo/mcp.json', '.kilocode/mcp.json', '.continue/config.yaml', '.aider.conf.yml',
    '.amazonq/cli-agents/a.json', '.kiro/hooks/a.json', '.github/hooks/a.json', '.openhands/setup.sh', '.agents/skills/a/run.sh',
  ],
  editor: ['.vscode/tasks.json', 'a/b/.vscode/settings.json', 'my.code-workspace', '.idea/workspace.xml', '.zed/tasks.json', '.vimrc', '.exrc', '.nvim.lua', '.dir-locals.el', 'x.sublime-project', '.luarc.json', '.run/Test.run.xml'],
  shell: ['.envrc', 'services/api/.envrc', '.ENVRC', 'mise.toml', '.mise.toml', '.tool-versions', 'flake.nix', 'devbox.json', '.gdbinit', '.Rprofile', '.pdbrc', 'sitecustomize.py', '.config/mise/config.toml'],
  packages: [
    '.npmrc', 'packages/a/.npmrc', '.yarnrc.yml', '.yarn/releases/yarn-4.cjs', '.pnpmfile.cjs', '.pnp.cjs', 'bunfig.toml', '.cargo/config.toml', 'crates/a/.cargo/config.toml', 'pip.conf', '.bundle/config',
    'node_modules/.bin/tsc', 'packages/a/node_modules/.bin/tsc', 'node_modules/a/node_modules/.bin/b', 'node_modules/.bin', 'gradlew', 'gradle/wrapper/gradle-wrapper.jar', '.mvn/jvm.config', 'nuget.config', '.bazelrc', 'tools/bazel', '.jvmopts', '.sbtopts',
  ],
  git: ['.gitattributes', 'sub/.gitattributes', '.gitmodules', '.husky/pre-commit', '.githooks/pre-push', '.pre-commit-config.yaml', 'lefthook.yml', '.lintstagedrc.json'],
  devcontainer: ['.devcontainer/devcontainer.json', '.devcontainer.json', '.gitpod.yml', '.idx/dev.nix', '.replit', 'Vagrantfile'],
  ci: ['.github/workflows/ci.yml', '.GitHub/Workflows/ci.yml', '.gitlab-ci.yml', '.circleci/config.yml', 'azure-pipelines.yml', 'Jenkinsfile', '.forgejo/workflows/a.yaml', '.cirrus.yml', '.ci/run'],
  build: ['Makefile', 'sub/makefile', 'justfile', 'Taskfile.yml', 'tox.ini', 'noxfile.py'],
  tests: ['vitest.config.ts', 'packages/a/jest.config.js', 'pytest.ini', '.config/nextest.toml'],
}; // prettier-ignore

describe('files that run code', () => {
  const rows = Object.entries(KINDS).flatMap(([kind, paths]) => paths.map((path) => [kind, path] as const));
  it.each(rows)('%s: %s', (kind, path) => expect(findCodeFiles(path)?.kind).toBe(kind));
  it('are all found by their names too', () => expect(rows.filter(([, path]) => !namesCodeFile(path))).toEqual([]));

  it('has an example of every kind, one sentence for each, and no pattern twice', () => {
    expect(CODE_FILES.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(KINDS).toSorted());
    for (const { reason } of CODE_FILES) expect(reason).toMatch(/^[^.]+\.$/);
    expect(CODE_FILE_PATTERNS.filter((pattern, i) => CODE_FILE_PATTERNS.indexOf(pattern) !== i)).toEqual([]);
  });

  it.each([
    'src/index.ts', 'src/claude.ts', 'docs/claude/settings.md', 'test/a.test.ts', 'README.md', 'package-lock.json', 'pnpm-lock.yaml', 'Cargo.lock', 'uv.lock', 'Cargo.toml.md', 'environment.ts', 'src/env.ts',
    '.editorconfig', '.gitignore', '.github/ISSUE_TEMPLATE.md', '.github/CODEOWNERS', 'requirements.txt', 'go.mod', 'go.sum', '.nvmrc', 'node_modules/a/index.js', 'bin/tool', 'mise/readme.md', 'AGENTS.md', 'CLAUDE.md',
  ])('are not: %s', (path) => expect(findCodeFiles(path)).toBeUndefined()); // prettier-ignore
});

it.each([
  'AGENTS.md',
  'CLAUDE.md',
  'packages/a/agents.md',
  'GEMINI.md',
  '.cursorrules',
  '.github/copilot-instructions.md',
])('%s is an instruction', (path) => expect(isInstructionFile(path)).toBe(true));

it.each([
  ['{"file_path":".vscode/tasks.json"}', true],
  ['{"file_path":"sub/.envrc"}', true],
  ['{"file_path":"CLAUDE.md"}', true],
  ['{"command":"cat node_modules/.bin/x"}', true],
  ['{"file_path":"src/env.ts"}', false],
  ['{"file_path":"src/makefile-parser.ts"}', false],
  ['{"command":"npm test"}', false],
])('a text that names one: %s: %s', (text, expected) => expect(namesCodeFile(text)).toBe(expected));
