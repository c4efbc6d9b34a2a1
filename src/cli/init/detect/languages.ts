import { fieldsInJson, fieldsOf } from '../../../protocol/shape/read-unknown.ts';
import { commandsOf, type Detector, findMatch, firstOf, hasMatch, type Listing } from './toolchain.ts';

const detectDeno: Detector = (files) => {
  const from = firstOf(files, 'deno.json', 'deno.jsonc');
  // A Node project may have the file for its editor only.
  if (from === undefined || files.paths.has('package.json')) return undefined;
  return {
    id: 'deno',
    title: 'Deno',
    from,
    commands: { install: 'deno install', lint: 'deno lint', test: 'deno test' },
  };
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
  const commands = {
    install: 'go mod download',
    build: 'go build ./...',
    lint: lints ? 'golangci-lint run' : 'go vet ./...',
    test: 'go test ./...',
  };
  return { id: 'go', title: 'Go', from, commands };
};

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

export const LANGUAGES: readonly Detector[] = [
  detectDeno,
  detectRust,
  detectGo,
  detectMaven,
  detectGradle,
  detectRuby,
  detectPhp,
  detectDotnet,
];
