import { fieldsInJson, fieldsOf } from '../../../protocol/shape/read-unknown.ts';
import { commandsOf, type Detector, findMatch, firstOf, hasMatch, type Listing } from './toolchain.ts';

const detectDeno: Detector = (files) => {
  const from = firstOf(files, 'deno.json', 'deno.jsonc');
  // A Node project may have the file only for its editor.
  if (from === undefined || files.paths.has('package.json')) return undefined;
  // The file is JSON with comments, of which only the task names matter.
  const task = (name: string): string | undefined =>
    new RegExp(`"tasks"\\s*:\\s*\\{[^}]*"${name}"\\s*:`).test(files.read(from)) ? `deno task ${name}` : undefined;
  const hasTests = hasMatch(files, /(?:^|[/_.])test\.(?:[cm]?[jt]s|[jt]sx)$/);
  const commands = commandsOf({
    install: 'deno install',
    build: task('build'),
    lint: task('lint') ?? 'deno lint',
    // Without any test, `deno test` fails.
    test: task('test') ?? (hasTests ? 'deno test' : undefined),
  });
  return { id: 'deno', title: 'Deno', from, commands };
};

const detectRust: Detector = (files) => {
  if (!files.paths.has('Cargo.toml')) return undefined;
  const lints = firstOf(files, 'clippy.toml', '.clippy.toml') !== undefined;
  const commands = commandsOf({
    install: 'cargo fetch',
    lint: lints ? 'cargo clippy --all-targets -- -D warnings' : undefined,
    test: 'cargo test',
  });
  return { id: 'rust', title: 'Rust', from: 'Cargo.toml', commands, fills: 'target' };
};

const detectGo: Detector = (files) => {
  const from = firstOf(files, 'go.mod', 'go.work');
  if (from === undefined) return undefined;
  const lints = hasMatch(files, /^\.golangci\.(?:ya?ml|toml|json)$/);
  const packages = findGoPackages(files);
  const commands = {
    install: 'go mod download',
    build: `go build ${packages}`,
    lint: lints ? 'golangci-lint run' : `go vet ${packages}`,
    test: `go test ${packages}`,
  };
  return { id: 'go', title: 'Go', from, commands };
};

/** In a workspace, lists the packages of each module, because `./...` fails if the root is not a module. */
function findGoPackages(files: Listing): string {
  const uses = [...files.read('go.work').matchAll(/^(?:use\s+|\s+)(\.[\w./-]*)\s*$/gm)].map(
    ([, folder = '']) => folder,
  );
  if (uses.length === 0 || files.paths.has('go.mod')) return './...';
  return uses.map((folder) => `${folder.replace(/\/$/, '')}/...`).join(' ');
}

const detectMaven: Detector = (files) => {
  if (!files.paths.has('pom.xml')) return undefined;
  const maven = files.paths.has('mvnw') ? './mvnw' : 'mvn';
  const commands = { test: `${maven} --batch-mode verify` };
  return { id: 'maven', title: 'Java (Maven)', from: 'pom.xml', commands, online: ['test'], fills: 'target' };
};

const detectGradle: Detector = (files) => {
  const from = firstOf(files, 'build.gradle.kts', 'build.gradle', 'settings.gradle.kts', 'settings.gradle');
  if (from === undefined) return undefined;
  const commands = { test: `${files.paths.has('gradlew') ? './gradlew' : 'gradle'} check` };
  return { id: 'gradle', title: 'Java (Gradle)', from, commands, online: ['test'], fills: 'build' };
};

const detectRuby: Detector = (files) => {
  if (!files.paths.has('Gemfile')) return undefined;
  const hasSpecs = files.paths.has('.rspec') || hasMatch(files, /^spec\/.*_spec\.rb$/);
  const hasRake = files.paths.has('Rakefile') && hasMatch(files, /^test\/.*\.rb$/);
  const rake = files.paths.has('bin/rails') ? 'bin/rails test' : 'bundle exec rake test';
  const commands = commandsOf({
    install: 'bundle install',
    lint: files.paths.has('.rubocop.yml') ? 'bundle exec rubocop' : undefined,
    test: hasSpecs ? 'bundle exec rspec' : hasRake ? rake : undefined,
  });
  return { id: 'ruby', title: 'Ruby (Bundler)', from: 'Gemfile', commands };
};

const detectPhp: Detector = (files) => {
  if (!files.paths.has('composer.json')) return undefined;
  const scripts = fieldsOf(fieldsInJson(files.read('composer.json'))['scripts']);
  const script = (name: string): string | undefined => (name in scripts ? `composer run-script ${name}` : undefined);
  const commands = commandsOf({
    install: 'composer install --no-interaction',
    lint: script('lint') ?? (hasMatch(files, /^phpstan\.(?:dist\.)?neon/) ? 'vendor/bin/phpstan analyse' : undefined),
    test: script('test') ?? (hasMatch(files, /^phpunit\.(?:dist\.)?xml/) ? 'vendor/bin/phpunit' : undefined),
  });
  return { id: 'php', title: 'PHP (Composer)', from: 'composer.json', commands, fills: 'vendor' };
};

const detectDotnet: Detector = (files) => {
  const from = findMatch(files, /^[^/]+\.slnx?$/) ?? findMatch(files, /^[^/]+\.(?:cs|fs|vb)proj$/);
  if (from === undefined) return undefined;
  const commands = {
    install: 'dotnet restore',
    build: 'dotnet build --no-restore',
    test: hasTestProject(files) ? 'dotnet test --no-build' : undefined,
  };
  return { id: 'dotnet', title: '.NET', from, commands: commandsOf(commands) };
};

function hasTestProject(files: Listing): boolean {
  return hasMatch(files, /tests?\.(?:cs|fs|vb)proj$/i);
}

const detectElixir: Detector = (files) => {
  if (!files.paths.has('mix.exs')) return undefined;
  const commands = commandsOf({
    install: 'mix local.hex --force --if-missing && mix deps.get',
    build: 'mix compile',
    lint: files.paths.has('.formatter.exs') ? 'mix format --check-formatted' : undefined,
    test: hasMatch(files, /^(?:apps\/[^/]+\/)?test\/.*_test\.exs$/) ? 'mix test' : undefined,
  });
  return { id: 'elixir', title: 'Elixir (Mix)', from: 'mix.exs', commands, fills: 'deps' };
};

export const LANGUAGES: readonly Detector[] = [
  detectDeno,
  detectRust,
  detectGo,
  detectMaven,
  detectGradle,
  detectRuby,
  detectPhp,
  detectDotnet,
  detectElixir,
];
