import { matchesGlob, splitKey } from './match-path.ts';

/** Files of a repository with which a program runs commands although nobody started them. */
export interface CodeFiles {
  readonly kind: CodeFileKind;
  /** Why a change is more than a change of text: one sentence, which people read. */
  readonly reason: string;
  /** As in `ci.protected`: without a slash in every folder, with one from the root. */
  readonly patterns: readonly string[];
}

export type CodeFileKind =
  | 'agent'
  | 'editor'
  | 'shell'
  | 'git'
  | 'devcontainer'
  | 'packages'
  | 'ci'
  | 'build'
  | 'tests';

/**
 * The only list of files that run code. Protected paths, permission prompts and the documentation use it.
 *
 * A row belongs here if a program of a person or of CI runs what the file names, merely because a person opens the
 * folder, enters it, installs, commits or starts an agent. Source, tests, lockfiles and the dependency fields of a
 * manifest do not belong here, because ordinary changes touch them.
 */
export const CODE_FILES: readonly CodeFiles[] = [
  {
    kind: 'agent',
    reason: 'Coding agents run its hooks, MCP servers, plugins and commands, and take their permissions from it.',
    patterns: [
      '.claude/**', '.claude-plugin/**', '.claude.json', '.mcp.json', 'mcp.json', '.codex/**', '.codex-plugin/**', '.gemini/**', 'gemini-extension.json',
      '.cursor/**', '.cursor-plugin/**', '.windsurf/**', '.codeium/**', '.qwen/**', '.opencode/**', 'opencode.json', 'opencode.jsonc', '.crush/**', '.crush.json', 'crush.json',
      '.agents/**', '.amp/**', '.goose/**', '.cline/**', '.clinerules/**', '.roo/**', '.roomodes', '.kilo/**', '.kilocode/**', '.kilocodemodes', '.continue/**', '.continuerc.json',
      '.aider.conf.yml', '.aider.conf.yaml', '.amazonq/**', '.kiro/**', '.junie/**', '.trae/**', '.factory/**', '.augment/**', '.warp/**', '.pi/**', '.openhands/**', '.iflow/**', '.rovodev/**',
      '.copilot/**', '/.github/hooks/**', '/.github/agents/**', '/.github/skills/**', '/.github/plugin/**', '/.github/extensions/**', '/.github/mcp.json', '/.github/copilot/**',
      '/conductor.json', '/.superset/**', '/.vibe-kanban/**',
    ],
  },
  {
    kind: 'editor',
    reason: 'Editors run its tasks, formatters, language servers and extensions when the folder is opened.',
    patterns: [
      '.vscode/**', '*.code-workspace', '.vscode-test.*', '.idea/**', '.run/**', '*.run.xml', '.fleet/**', '.zed/**', '.vs/**', 'tasks.vs.json', 'launch.vs.json',
      '.vim/**', '.vimrc', '.gvimrc', '_vimrc', '.lvimrc', '.exrc', '_exrc', '.nvim/**', '.nvimrc', '.nvim.lua', '.lazy.lua', '.neoconf.json', '.ycm_extra_conf.py', '.projections.json',
      '.dir-locals.el', '.dir-locals-2.el', '.projectile', '*.sublime-project', '*.sublime-build', '.luarc.json', '.luarc.jsonc', '.helix/**', '.kakrc', '.nova/**', '.externalToolBuilders/**',
    ],
  },
  {
    kind: 'shell',
    reason: 'A shell, version manager, debugger or interpreter runs it when it starts in the folder or enters it.',
    patterns: [
      '.envrc', '.direnv/**', '.env', '.autoenv', '.autoenv.zsh', '.tool-versions', 'mise.toml', '.mise.toml', 'mise.*.toml', '.mise.*.toml', '.mise/**', '**/mise/config.toml', '**/.config/mise.toml', '**/.config/mise/**', '.rtx.toml',
      '.prototools', '.vfox.toml', '.sdkmanrc', '.bashrc', '.bash_profile', '.bash_aliases', '.profile', '.zshrc', '.zshenv', '.zprofile', '.inputrc', '.tmux.conf', '.tmuxinator.yml', '.screenrc',
      'flake.nix', 'shell.nix', 'devenv.nix', 'devenv.yaml', 'devenv.local.nix', 'devbox.json', '.flox/**', '.pixi/**',
      '.gdbinit', '.lldbinit', '.pdbrc', '.pdbrc.py', '.pythonstartup', 'sitecustomize.py', 'usercustomize.py', '.irbrc', '.pryrc', '.Rprofile', '.ghci', '.ocamlinit', '.iex.exs', '.erlang',
    ],
  },
  {
    kind: 'packages',
    reason: 'A package manager runs its scripts, at an install or by name, or takes packages and programs from where it says.',
    patterns: [
      '.npmrc', '.yarnrc', '.yarnrc.yml', '**/.yarn/releases/**', '**/.yarn/plugins/**', '**/.yarn/sdks/**', 'yarn.config.cjs', '.pnp.cjs', '.pnp.js', '.pnp.loader.mjs', '.pnpmfile.cjs', '.pnpmfile.mjs', 'pnpmfile.js', '**/node_modules/**/.bin/**',
      'package.json#scripts', 'package.json#trustedDependencies', 'package.json#allowScripts', 'package.json#dependenciesMeta', 'package.json#pnpm.onlyBuiltDependencies', 'package.json#pnpm.allowBuilds', 'package.json#pnpm.patchedDependencies', 'package.json#pnpm.configDependencies',
      ...['onlyBuiltDependencies', 'onlyBuiltDependenciesFile', 'allowBuilds', 'neverBuiltDependencies', 'dangerouslyAllowAllBuilds', 'ignoredBuiltDependencies', 'configDependencies', 'patchedDependencies', 'pnpmfile', 'globalPnpmfile', 'scriptShell', 'nodeOptions', 'registry', 'registries', 'virtualStoreDir', 'modulesDir'].map((key) => `pnpm-workspace.yaml#${key}`),
      'bunfig.toml', 'deno.json#tasks', 'deno.jsonc#tasks', 'lerna.json#command', '.bowerrc', 'binding.gyp',
      '**/.cargo/config', '**/.cargo/config.toml', 'rust-toolchain', 'rust-toolchain.toml#toolchain.path', 'Cargo.toml#package.build',
      'pip.conf', 'pip.ini', '.pypirc', 'uv.toml', 'poetry.toml', '.pdm.toml', 'pdm.toml', 'hatch.toml', 'pyproject.toml#build-system.build-backend', 'pyproject.toml#build-system.backend-path', 'pyproject.toml#tool.hatch.build', 'pyproject.toml#tool.hatch.envs', 'pyproject.toml#tool.pdm.build', 'pyproject.toml#tool.pdm.scripts', 'pyproject.toml#tool.poetry.build', 'pyproject.toml#tool.uv.index', 'pyproject.toml#tool.uv.build-backend',
      '.bundle/**', 'composer.json#scripts', 'composer.json#config', 'composer.json#repositories',
      'gradlew', 'gradlew.bat', '**/gradle/wrapper/**', 'init.gradle', 'init.gradle.kts', 'mvnw', 'mvnw.cmd', '.mvn/**', 'nuget.config', 'Directory.Build.props', 'Directory.Build.targets', 'Directory.Build.rsp', 'omnisharp.json', '.formatter.exs', '.bazelrc', '.bazeliskrc', '/tools/bazel', '.jvmopts', '.sbtopts',
    ],
  },
  {
    kind: 'git',
    reason: 'git, or a program that git calls, runs its hooks and filters, or fetches what it names.',
    patterns: [
      '.gitattributes', '.gitmodules', '.gitconfig', '.githooks/**', '.git-hooks/**', '.git_hooks/**', 'githooks/**', '.hooks/**', '.husky/**', '.huskyrc*', 'husky.config.*',
      '.pre-commit-config.yaml', '.pre-commit-config.yml', '.pre-commit-hooks.yaml', 'prek.toml', 'lefthook.yml', 'lefthook.yaml', 'lefthook.toml', 'lefthook.json', 'lefthook-local.*', '.lefthook.*', '.lefthook-local.*', '.lefthook/**', '.lefthook-local/**', '**/.config/lefthook.*',
      '.lintstagedrc*', 'lint-staged.config.*', '.simple-git-hooks.*', 'simple-git-hooks.*', '.nano-staged*', 'nano-staged.*', '.overcommit.yml', '.git-hooks.*', 'captainhook.json', 'grumphp.yml', 'grumphp.yml.dist', '.rusty-hook.toml', '.cargo-husky/**', '.yorkie/**',
      'package.json#husky', 'package.json#lint-staged', 'package.json#nano-staged', 'package.json#simple-git-hooks', 'package.json#pre-commit', 'package.json#gitHooks', 'pyproject.toml#tool.pre-commit',
    ],
  },
  {
    kind: 'devcontainer',
    reason: 'A development container or cloud workspace runs its commands when it starts.',
    patterns: [
      '.devcontainer/**', '.devcontainer.json', '.gitpod.yml', '.gitpod/**', '.gitpod.Dockerfile', '.ona/**', '.idx/**', '.replit', 'replit.nix', '.codesandbox/**', '.stackblitzrc', 'Vagrantfile',
      'devfile.yaml', '.devfile.yaml', '.coder/**', '.github/codespaces/**', '.devpod/**', '.daytona/**',
    ],
  },
  {
    kind: 'ci',
    reason: 'CI runs it, with the credentials of CI.',
    patterns: [
      '.github/workflows/**', '.github/actions/**', '.forgejo/workflows/**', '.forgejo/actions/**', '.gitea/workflows/**', '.gitea/actions/**', '.gitlab-ci.yml', '.gitlab/ci/**', '.gitlab-ci/**', '.circleci/**', '.buildkite/**',
      '.woodpecker/**', '.woodpecker.yml', '.woodpecker.yaml', '.drone.yml', '.drone.star', '.drone.jsonnet', '.travis.yml', '.travis/**', 'azure-pipelines.yml', 'azure-pipelines.yaml', '.azure-pipelines/**', '.azuredevops/**', '.vsts-ci.yml', 'bitbucket-pipelines.yml',
      'Jenkinsfile', 'Jenkinsfile.*', '.jenkins/**', 'appveyor.yml', '.appveyor.yml', '.cirrus.yml', '.cirrus.star', '.semaphore/**', '.teamcity/**', 'wercker.yml', 'codefresh.yml', '.codefresh/**', 'cloudbuild.yaml', 'cloudbuild.yml', 'buildspec.yml', 'buildspec.yaml', 'bitrise.yml', 'codemagic.yaml',
      '.build.yml', '.builds/**', '.tekton/**', '.harness/**', '.dagger/**', 'dagger.json', '.sourcehut/**', '.readthedocs.yml', '.readthedocs.yaml', 'netlify.toml#build', 'vercel.json#buildCommand', 'vercel.json#installCommand', 'amplify.yml', 'render.yaml', '.platform.app.yaml', '.ci/**',
    ],
  },
  {
    kind: 'build',
    reason: 'It names the commands that people, checks and CI run by a short name.',
    patterns: [
      'Makefile', 'GNUmakefile', 'justfile', '.justfile', 'Taskfile.yml', 'Taskfile.yaml', 'Taskfile.dist.yml', 'Taskfile.dist.yaml', 'Rakefile', 'magefile.go', 'Earthfile', 'noxfile.py', 'tox.ini', 'tox.toml', 'pyproject.toml#tool.tox', 'pyproject.toml#tool.nox', 'pyproject.toml#tool.poe', 'pyproject.toml#tool.taskipy', 'turbo.json', 'nx.json', 'wireit.json', 'package.json#wireit',
    ],
  },
  {
    kind: 'tests',
    reason: 'It decides which tests run, and how.',
    patterns: [
      'vitest.config.*', 'vitest.workspace.*', 'vite.config.*', 'jest.config.*', 'playwright.config.*', 'cypress.config.*', 'karma.conf.*', '.mocharc.*', 'ava.config.*', '.nycrc*', '.c8rc*', '.taprc',
      'package.json#jest', 'package.json#mocha', 'package.json#ava', 'package.json#vitest', 'package.json#nyc', 'package.json#c8', 'package.json#tap',
      'pytest.ini', '.pytest.ini', 'pytest.toml', '.pytest.toml', 'setup.cfg', '.coveragerc', 'pyproject.toml#tool.pytest', 'pyproject.toml#tool.coverage', 'phpunit.xml*', '.rspec', '.nextest.toml', '**/.config/nextest.toml',
    ],
  },
]; // prettier-ignore

/**
 * Files that agents read as instructions. A change is marked for the reviewer. A merge asks a person only if
 * `ci.protected` names the file, because projects edit these texts all the time.
 */
const INSTRUCTION_FILES: readonly string[] = [
  'AGENTS.md', 'AGENT.md', 'AGENTS.override.md', 'CLAUDE.md', 'CLAUDE.local.md', 'GEMINI.md', 'QWEN.md', 'CODEX.md', 'CRUSH.md', 'WARP.md', 'IFLOW.md', 'SKILL.md',
  '.cursorrules', '.windsurfrules', '.goosehints', '.rules', '.roorules', '.roorules-*', '.kilocoderules', '/.github/copilot-instructions.md', '/.github/instructions/**', '/.github/prompts/**', '/.github/chatmodes/**',
]; // prettier-ignore

export const CODE_FILE_PATTERNS: readonly string[] = CODE_FILES.flatMap(({ patterns }) => patterns);

/** The row of a path; undefined if nothing runs the file by itself. A part of a file (`#KEY`) counts as the file. */
export function findCodeFiles(path: string): CodeFiles | undefined {
  return CODE_FILES.find(({ patterns }) => patterns.some((pattern) => matchesGlob(splitKey(pattern)[0], path)));
}

export function isInstructionFile(path: string): boolean {
  return INSTRUCTION_FILES.some((pattern) => matchesGlob(pattern, path));
}

/**
 * Reports whether a text names such a file or folder anywhere: a tool's input, or a command.
 */
export function namesCodeFile(text: string): boolean {
  return NAMES.test(text.normalize('NFKC'));
}

/** The first name of each pattern that is not common to the paths of a home folder or of the repository. */
const NAMES = new RegExp(
  [...CODE_FILE_PATTERNS, ...INSTRUCTION_FILES]
    .map((pattern) => splitKey(pattern)[0].replace(/^(?:\/|\*\*\/)+/, '').replace(/\/\*\*.*$/, ''))
    .map((name) => `(?<![\\w.-])${name.split(/([*?])/).map((part) => (part === '*' ? String.raw`[^\s/"']*` : RegExp.escape(part))).join('')}(?![\\w-])`)
    .join('|'),
  'i',
); // prettier-ignore
