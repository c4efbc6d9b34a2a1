import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { FakeGithub, type FakePull } from './fake-github.ts';

const STAND_IN = join(import.meta.dirname, 'gh-stand-in.ts');

/** The sample repository, with a remote that is at a GitHub of our own, and a `gh` that knows no other. */
export class GithubScene extends WorkflowScene {
  readonly github: FakeGithub;
  readonly #bin = join(this.scene.folder, 'bin');

  constructor(github = 'repository = "owner/sample"', runbook: (toml: string) => string = (toml) => toml) {
    super((toml) => runbook(`${toml}\n[github]\n${github}\n`));
    const bare = join(this.scene.folder, 'remote.git');
    this.git('init', '--quiet', '--bare', '--initial-branch=main', bare);
    this.git('remote', 'add', 'origin', bare);
    this.git('push', '--quiet', 'origin', 'main');
    this.github = new FakeGithub(bare);
    mkdirSync(this.#bin);
    const gh = process.env['BATON_TEST_GH'];
    if (gh === undefined)
      this.installGh(`exec '${process.execPath}' --disable-warning=ExperimentalWarning '${STAND_IN}' "$@"`);
    else symlinkSync(gh, join(this.#bin, 'gh'));
  }

  /** The environment in which `gh` knows nothing but the fake. */
  get ghEnv(): Record<string, string> {
    const config = join(this.scene.folder, 'gh');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.yml'), `http_unix_socket: ${join(this.scene.folder, 'github.sock')}\n`);
    const path = `${this.#bin}${delimiter}${process.env['PATH'] ?? ''}`;
    return { PATH: path, GH_TOKEN: 'fake-token', GH_CONFIG_DIR: config };
  }

  /** A `gh` of the test's own. */
  installGh(script: string): void {
    const path = join(this.#bin, 'gh');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  async begin(env: Record<string, string> = {}): Promise<void> {
    await this.github.listen(join(this.scene.folder, 'github.sock'));
    await this.start({ ...this.ghEnv, ...env });
  }

  /** The one pull request that there is. */
  get pull(): FakePull {
    const [only, ...others] = this.github.pulls;
    if (only === undefined || others.length > 0) throw new Error(`${this.github.pulls.length} pull requests`);
    return only;
  }

  override async end(): Promise<void> {
    await super.end();
    await this.github.close();
  }
}
