import { fieldsInJson } from '../../../protocol/shape/read-unknown.ts';
import { hasMatch, type Listing } from './toolchain.ts';

const CI_SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/^\.github\/workflows\/[^/]+\.ya?ml$/, 'GitHub Actions'],
  [/^\.gitlab-ci\.ya?ml$/, 'GitLab CI'],
  [/^\.circleci\/config\.ya?ml$/, 'CircleCI'],
  [/^azure-pipelines\.ya?ml$/, 'Azure Pipelines'],
  [/^bitbucket-pipelines\.ya?ml$/, 'Bitbucket Pipelines'],
  [/^\.buildkite\/[^/]+\.ya?ml$/, 'Buildkite'],
  [/^\.travis\.ya?ml$/, 'Travis CI'],
  [/^\.woodpecker(?:\/|\.ya?ml$)/, 'Woodpecker'],
  [/^(?:\.forgejo|\.gitea)\/workflows\//, 'Forgejo Actions'],
  [/^Jenkinsfile$/, 'Jenkins'],
];

export function findCiSystems(files: Listing): readonly string[] {
  return CI_SYSTEMS.flatMap(([pattern, name]) => (hasMatch(files, pattern) ? [name] : []));
}

const INSTRUCTIONS = ['AGENTS.md', 'CLAUDE.md', '.claude/CLAUDE.md', 'GEMINI.md', '.github/copilot-instructions.md'];

/** Instruction files that the clients of agents read by themselves. */
export function findInstructions(files: Listing): readonly string[] {
  return INSTRUCTIONS.filter((path) => files.paths.has(path));
}

const WORKSPACES: readonly (readonly [string, RegExp])[] = [
  ['pnpm-workspace.yaml', /^\s*packages:/m],
  ['Cargo.toml', /^\[workspace\]/m],
  ['go.work', /^use\b/m],
  ['lerna.json', /./],
  ['nx.json', /./],
  ['turbo.json', /./],
  ['settings.gradle', /\binclude\b/],
  ['settings.gradle.kts', /\binclude\b/],
  ['pyproject.toml', /^\[tool\.uv\.workspace\]/m],
  ['pom.xml', /<modules>/],
];

/** The file that makes the repository a monorepo. */
export function findWorkspaceFile(files: Listing): string | undefined {
  if (fieldsInJson(files.read('package.json'))['workspaces'] !== undefined) return 'package.json';
  return WORKSPACES.find(([path, pattern]) => files.paths.has(path) && pattern.test(files.read(path)))?.[0];
}

const NESTED =
  /^(?!(?:.*\/)?(?:node_modules|vendor|examples?|fixtures?|testdata)\/)[^/]+\/(?:[^/]+\/)?(?:package\.json|pyproject\.toml|Cargo\.toml|go\.mod|pom\.xml|Gemfile|composer\.json|mix\.exs|build\.gradle(?:\.kts)?|[^/]+\.csproj)$/;

/** Projects below the root, whose commands are not looked for. */
export function findNestedProjects(files: Listing): readonly string[] {
  return [...files.paths].filter((path) => NESTED.test(path)).toSorted();
}
