/** Public hosts that a session with the network `dev` can reach, beside its client's API and the git remotes. */
export interface Registry {
  readonly hosts: readonly string[];
  /** What uses the hosts. */
  readonly serves: string;
}

/**
 * One list for the policy, the docs and `baton doctor`. A host belongs here if installing public packages with an
 * ecosystem's own tool needs it, and if it accepts nothing from a client without a login.
 */
export const REGISTRIES: readonly Registry[] = [
  { hosts: ['registry.npmjs.org', 'registry.yarnpkg.com'], serves: 'npm, pnpm, Yarn, Bun' },
  { hosts: ['npm.jsr.io', 'jsr.io', 'deno.land'], serves: 'Deno, and packages of JSR' },
  { hosts: ['nodejs.org'], serves: 'headers of Node.js, with which node-gyp builds addons' },
  { hosts: ['pypi.org', 'files.pythonhosted.org'], serves: 'pip, uv, Poetry' },
  { hosts: ['index.crates.io', 'static.crates.io', 'crates.io'], serves: 'Cargo' },
  { hosts: ['static.rust-lang.org'], serves: 'toolchains that rust-toolchain.toml names' },
  { hosts: ['proxy.golang.org', 'sum.golang.org'], serves: 'Go modules, and toolchains that go.mod names' },
  { hosts: ['repo.maven.apache.org', 'repo1.maven.org'], serves: 'Maven, Gradle, sbt' },
  {
    hosts: ['plugins.gradle.org', 'plugins-artifacts.gradle.org', 'services.gradle.org', 'downloads.gradle.org'],
    serves: 'plugins of Gradle, and the Gradle wrapper',
  },
  { hosts: ['rubygems.org', 'index.rubygems.org'], serves: 'Bundler' },
  { hosts: ['repo.packagist.org', 'packagist.org'], serves: 'Composer' },
  { hosts: ['api.nuget.org'], serves: '.NET' },
  { hosts: ['repo.hex.pm', 'builds.hex.pm'], serves: 'Mix' },
  { hosts: ['pub.dev'], serves: 'Dart and Flutter' },
];

export const REGISTRY_HOSTS: readonly string[] = REGISTRIES.flatMap(({ hosts }) => hosts);
