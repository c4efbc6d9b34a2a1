import { join } from 'node:path';
import { WorkflowScene } from '../processes/workflow-scene.ts';
import { FakeGithub, type FakePull } from './fake-github.ts';
import { GhFolder } from './gh-folder.ts';

/** The sample repository, with a remote at the fake GitHub, and a `gh` that knows only the fake. */
export class GithubScene extends WorkflowScene {
  readonly github: FakeGithub;
  readonly gh: GhFolder;

  constructor(github = '', runbook: (toml: string) => string = (toml) => toml) {
    super((toml) => runbook(`${toml}\n[github]\nrepository = "owner/sample"\n${github}\n`));
    const bare = join(this.scene.folder, 'remote.git');
    this.git('init', '--quiet', '--bare', '--initial-branch=main', bare);
    this.git('remote', 'add', 'origin', bare);
    this.git('push', '--quiet', 'origin', 'main');
    this.github = new FakeGithub(bare);
    this.gh = new GhFolder(this.scene.folder);
  }

  async begin(): Promise<void> {
    await this.github.listen(this.gh.socket);
    await this.start(this.gh.env);
  }

  /** The only pull request. */
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
