import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { World } from '../processes/world.ts';
import { FleetHost } from './host.ts';
import { openLink } from './link.ts';
import { ProcessNamespace } from './process-namespace.ts';
import { readChain } from './read-chain.ts';

export interface FleetOptions {
  /** The folder of the server's Unix socket, and the database. */
  readonly server: { readonly socketFolder: string; readonly database: string };
  readonly hosts: number;
  /** Gives each host its own process ids. Needs root. */
  readonly namespaces?: boolean;
  /** Files of the repository; the project's name is added to `baton.toml`. */
  readonly files?: Readonly<Record<string, string>>;
  /** A folder whose files are copied to the repository. */
  readonly sample?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Connects the host to the database without a proxy, for time measurements. */
  readonly direct?: boolean;
  /** How many agents each host runs at once. */
  readonly agents?: number;
}

export const PROJECT = 'fleet';

/**
 * Hosts on this machine, each with a state folder, a clone, a daemon and a separate connection to the database. The
 * remote is a bare repository.
 */
export class Fleet implements AsyncDisposable {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'baton-fleet-')));
  readonly remote: string = join(this.folder, 'remote.git');
  readonly hosts: FleetHost[] = [];
  readonly #options: FleetOptions;
  #server: FleetOptions['server'];

  private constructor(options: FleetOptions) {
    this.#options = options;
    this.#server = options.server;
  }

  /** The first host founds the fleet; it admits the others. */
  static async open(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    try {
      fleet.#makeRemote();
      for (let n = 0; n < options.hosts; n += 1) await fleet.addHost();
      return fleet;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  get founder(): FleetHost {
    return this.host(0);
  }

  host(n: number): FleetHost {
    const host = this.hosts[n];
    if (host === undefined) throw new Error(`there is no host ${n}`);
    return host;
  }

  async addHost(env: Readonly<Record<string, string>> = {}): Promise<FleetHost> {
    const { namespaces = false, direct = false, agents = 8 } = this.#options;
    const server = this.#server;
    const name = `host-${this.hosts.length + 1}`;
    const link = direct ? undefined : await openLink(join(server.socketFolder, '.s.PGSQL.5432'));
    const namespace = namespaces ? await ProcessNamespace.open() : undefined;
    const settings = {
      BATON_HOST: name,
      FLEET_HOST: name,
      BATON_STORE: link?.url(server.database) ?? this.url,
      ...this.#options.env,
      ...env,
    };
    const enter = namespace === undefined ? {} : { enter: namespace.enter };
    const host = new FleetHost(name, new World(settings, { origin: this.remote, ...enter }), link, namespace);
    this.hosts.push(host);
    const isFirst = this.hosts.length === 1;
    if (!isFirst) await this.founder.admit(host, agents);
    await host.world.startDaemon();
    // The first call opens the project.
    await host.world.order('status_get', {});
    // The founder has no limit of agents until it joins again with one.
    if (isFirst && this.#options.agents !== undefined) await host.admit(host, agents);
    return host;
  }

  async entries(): Promise<Entry[]> {
    return readChain(this.url, PROJECT);
  }

  /** Points every host, and this process's reads of the chain, to another server. */
  lead(socketFolder: string): void {
    this.#server = { ...this.#server, socketFolder };
    for (const { link } of this.hosts) link.lead(join(socketFolder, '.s.PGSQL.5432'));
  }

  /** The URL that bypasses all proxies. */
  get url(): string {
    const { socketFolder, database } = this.#server;
    return `postgres://postgres@${encodeURIComponent(socketFolder)}/${database}`;
  }

  #makeRemote(): void {
    const { files = {}, sample } = this.#options;
    const seed = join(this.folder, 'seed');
    mkdirSync(seed);
    if (sample !== undefined) cpSync(sample, seed, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(seed, name), text);
    const runbook = join(seed, 'baton.toml');
    writeFileSync(runbook, `project = "${PROJECT}"\n${existsSync(runbook) ? readFileSync(runbook, 'utf8') : ''}`);
    const git = (...args: string[]): void =>
      void execFileSync('git', args, { cwd: seed, env: { ...process.env, ...GIT } });
    git('init', '--quiet', '--initial-branch=main');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'first');
    git('clone', '--quiet', '--bare', seed, this.remote);
    rmSync(seed, { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.hosts.map(async (host) => host[Symbol.asyncDispose]()));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const GIT = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};
