import { describe, expect, it } from 'vitest';
import { findProject, type ProjectFindings } from './project.ts';

/** Files with their text. A name alone is an empty file. */
type Files = Readonly<Record<string, string>>;

function found(files: Files): ProjectFindings {
  return findProject({ paths: new Set(Object.keys(files)), read: (path) => files[path] ?? '' });
}

function commandsIn(files: Files): Readonly<Record<string, string>> {
  return Object.fromEntries(found(files).checks.map(({ name, run }) => [name, run]));
}

const manifest = (fields: object): string => JSON.stringify({ devDependencies: { x: '1' }, ...fields });
const TESTED = manifest({ scripts: { test: 'vitest', lint: 'oxlint', build: 'tsc', typecheck: 'tsc --noEmit' } });

describe('the commands of a repository', () => {
  it.each<readonly [string, Files, Readonly<Record<string, string>>]>([
    ['nothing', { 'README.md': '' }, {}],
    [
      'npm',
      { 'package.json': TESTED, 'package-lock.json': '' },
      {
        install: 'npm ci',
        build: 'npm run build',
        lint: 'npm run lint',
        types: 'npm run typecheck',
        test: 'npm test',
      },
    ],
    [
      'npm without a lock file',
      { 'package.json': manifest({ scripts: { test: 'x' } }) },
      { install: 'npm install', test: 'npm test' },
    ],
    ['npm without packages', { 'package.json': '{"scripts":{"test":"node --test"}}' }, { test: 'npm test' }],
    [
      'the test script of npm init',
      { 'package.json': manifest({ scripts: { test: 'echo "Error: no test specified" && exit 1' } }) },
      {},
    ],
    ['a broken package.json', { 'package.json': '{' }, {}],
    [
      'pnpm',
      { 'package.json': manifest({ scripts: { test: 'x', lint: 'y' } }), 'pnpm-lock.yaml': '' },
      { install: 'pnpm install --frozen-lockfile', lint: 'pnpm run lint', test: 'pnpm test' },
    ],
    [
      'yarn 1',
      { 'package.json': manifest({ scripts: { test: 'x' } }), 'yarn.lock': '' },
      { install: 'yarn install --frozen-lockfile', test: 'yarn test' },
    ],
    [
      'yarn 4',
      { 'package.json': manifest({ packageManager: 'yarn@4.5.0', scripts: { test: 'x' } }), 'yarn.lock': '' },
      { install: 'yarn install --immutable', test: 'yarn test' },
    ],
    [
      'bun',
      { 'package.json': manifest({ scripts: { test: 'x' } }), 'bun.lock': '' },
      { install: 'bun install --frozen-lockfile', test: 'bun run test' },
    ],
    [
      'uv with pytest and ruff',
      { 'pyproject.toml': '[dependency-groups]\ndev = ["pytest", "ruff"]', 'uv.lock': '', 'tests/test_a.py': '' },
      { install: 'uv sync', lint: 'uv run ruff check .', test: 'uv run pytest' },
    ],
    [
      'Poetry',
      { 'pyproject.toml': '[tool.poetry]\nname = "x"\n[tool.pytest.ini_options]' },
      { install: 'poetry install --no-interaction', test: 'poetry run pytest' },
    ],
    ['tox', { 'setup.py': '', 'tox.ini': '[testenv]\ncommands = pytest' }, { test: 'tox' }],
    [
      'requirements and pytest',
      { 'requirements.txt': 'flask\n', 'requirements-dev.txt': 'pytest==8\n', 'tests/test_a.py': '' },
      {
        install:
          'python3 -m venv .venv && .venv/bin/python -m pip install --quiet -r requirements.txt -r requirements-dev.txt',
        test: '.venv/bin/python -m pytest',
      },
    ],
    [
      'a package with an extra for tests, and pytest configured only',
      {
        'pyproject.toml':
          '[project]\nname = "x"\noptional-dependencies.test = ["coverage"]\n[tool.pytest.ini_options]\n[tool.ruff]',
      },
      {
        install: "python3 -m venv .venv && .venv/bin/python -m pip install --quiet -e '.[test]' pytest ruff",
        lint: '.venv/bin/python -m ruff check .',
        test: '.venv/bin/python -m pytest',
      },
    ],
    [
      'Python without packages',
      { 'pyproject.toml': '[project]\nname = "x"', 'tests/test_a.py': '' },
      { test: 'python3 -m unittest discover -s tests' },
    ],
    ['a broken pyproject.toml', { 'pyproject.toml': '[' }, {}],
    ['Rust', { 'Cargo.toml': '' }, { install: 'cargo fetch', test: 'cargo test' }],
    [
      'Rust with Clippy',
      { 'Cargo.toml': '', 'clippy.toml': '' },
      { install: 'cargo fetch', lint: 'cargo clippy --all-targets -- -D warnings', test: 'cargo test' },
    ],
    [
      'Go',
      { 'go.mod': '' },
      { install: 'go mod download', build: 'go build ./...', lint: 'go vet ./...', test: 'go test ./...' },
    ],
    [
      'a workspace of Go',
      { 'go.work': 'go 1.24\nuse (\n\t./server\n\t./lib/\n)\n' },
      {
        install: 'go mod download',
        build: 'go build ./server/... ./lib/...',
        lint: 'go vet ./server/... ./lib/...',
        test: 'go test ./server/... ./lib/...',
      },
    ],
    ['Maven', { 'pom.xml': '', mvnw: '' }, { test: './mvnw --batch-mode verify' }],
    ['Gradle', { 'build.gradle.kts': '', gradlew: '' }, { test: './gradlew check' }],
    [
      'Ruby',
      { Gemfile: '', 'spec/a_spec.rb': '', '.rubocop.yml': '' },
      { install: 'bundle install', lint: 'bundle exec rubocop', test: 'bundle exec rspec' },
    ],
    [
      'PHP',
      { 'composer.json': '{"scripts":{"lint":"x"}}', 'phpunit.xml.dist': '' },
      {
        install: 'composer install --no-interaction',
        lint: 'composer run-script lint',
        test: 'vendor/bin/phpunit',
      },
    ],
    [
      '.NET',
      { 'App.sln': '', 'App.Tests/App.Tests.csproj': '' },
      { install: 'dotnet restore', build: 'dotnet build --no-restore', test: 'dotnet test --no-build' },
    ],
    ['Deno without tests', { 'deno.json': '{}' }, { install: 'deno install', lint: 'deno lint' }],
    [
      'Deno',
      { 'deno.json': '{}', 'src/sum_test.ts': '' },
      { install: 'deno install', lint: 'deno lint', test: 'deno test' },
    ],
    [
      'Deno with tasks',
      { 'deno.jsonc': '{ // ours\n"tasks": { "test": "deno test -A" } }' },
      { install: 'deno install', lint: 'deno lint', test: 'deno task test' },
    ],
    [
      'Elixir',
      { 'mix.exs': '', '.formatter.exs': '', 'test/sum_test.exs': '' },
      {
        install: 'mix local.hex --force --if-missing && mix deps.get',
        build: 'mix compile',
        lint: 'mix format --check-formatted',
        test: 'mix test',
      },
    ],
    [
      'Make',
      { Makefile: 'CC := gcc\ntest := no\nbuild lint: x\n\techo\ncheck:\n\ttrue\n' },
      { build: 'make build', lint: 'make lint', test: 'make check' },
    ],
    [
      'just',
      { justfile: 'x := "1"\ntest mode="all": build\n  cargo test\n@lint:\n  x\n' },
      { lint: 'just lint', test: 'just test' },
    ],
    [
      'a Makefile beside a language',
      { 'go.mod': '', Makefile: 'test:\n\tgo test\ntypecheck:\n\ttrue\n' },
      {
        install: 'go mod download',
        build: 'go build ./...',
        lint: 'go vet ./...',
        types: 'make typecheck',
        test: 'go test ./...',
      },
    ],
    [
      'two languages',
      { 'package.json': '{"scripts":{"test":"x","lint":"y"}}', 'Cargo.toml': '' },
      { install: 'cargo fetch', lint: 'npm run lint', 'test-node': 'npm test', 'test-rust': 'cargo test' },
    ],
  ])('%s', (_, files, commands) => {
    expect(commandsIn(files)).toEqual(commands);
  });

  it('are in the order in which they run', () => {
    const { checks } = found({ 'package.json': TESTED, 'package-lock.json': '' });
    expect(checks.map(({ name }) => name)).toEqual(['install', 'build', 'lint', 'types', 'test']);
  });

  it('have a network only if they download', () => {
    const online = (files: Files): readonly string[] =>
      found(files).checks.flatMap(({ name, isOnline }) => (isOnline ? [name] : []));
    expect(online({ 'package.json': TESTED })).toEqual(['install']);
    expect(online({ 'pom.xml': '' })).toEqual(['test']);
  });

  it('prepare a worktree with those of every language', () => {
    const files = { 'package.json': TESTED, 'package-lock.json': '', 'Cargo.toml': '' };
    expect(found(files)).toMatchObject({ install: 'npm ci && cargo fetch', build: 'npm run build' });
  });
});

describe('what else is in them', () => {
  it.each([
    ['.github/workflows/ci.yml', 'GitHub Actions'],
    ['.gitlab-ci.yml', 'GitLab CI'],
    ['Jenkinsfile', 'Jenkins'],
  ])('%s is %s', (path, name) => {
    expect(found({ [path]: '' }).ci).toEqual([name]);
  });

  it('instructions for agents are named', () => {
    expect(found({ 'CLAUDE.md': '', 'AGENTS.md': '', 'src/CLAUDE.md': '' }).instructions).toEqual([
      'AGENTS.md',
      'CLAUDE.md',
    ]);
  });

  it.each<readonly [string, Files, string]>([
    [
      'workspaces of npm',
      { 'package.json': '{"workspaces":["a"]}', '.gitignore': 'node_modules/' },
      'This is a monorepo (package.json): only commands of its root were looked for.',
    ],
    [
      'a workspace of Cargo',
      { 'Cargo.toml': '[workspace]\n', '.gitignore': '/target' },
      'This is a monorepo (Cargo.toml): only commands of its root were looked for.',
    ],
    [
      'a project below an empty root',
      { 'web/package.json': '{}' },
      'The root has no project, but there is web/package.json. Add its commands to [[ci.required]].',
    ],
    [
      'many projects below the root',
      { 'a/go.mod': '', 'b/go.mod': '', 'c/go.mod': '', 'd/go.mod': '', 'e/go.mod': '' },
      'The root has no project, but there is a/go.mod, b/go.mod, c/go.mod, 2 more. Add their commands to [[ci.required]].',
    ],
    [
      'a second project below the root',
      { 'package.json': '{}', 'server/go.mod': '', 'examples/x/go.mod': '' },
      'Only the root was looked at; there is also server/go.mod. Add its commands to [[ci.required]].',
    ],
    [
      'packages that git does not ignore',
      { 'package.json': TESTED, '.gitignore': '# node_modules\ndist/\n' },
      'node_modules is not in .gitignore. Add it, so that no agent commits it.',
    ],
  ])('%s is a note', (_, files, note) => {
    expect(found(files).notes).toEqual([note]);
  });
});
