import { until } from '../processes/until.ts';
import type { World } from '../processes/world.ts';
import type { Link } from './link.ts';
import type { ProcessNamespace } from './process-namespace.ts';

/** One machine of a fleet. */
export class FleetHost implements AsyncDisposable {
  readonly name: string;
  readonly world: World;
  readonly #link: Link | undefined;
  readonly namespace: ProcessNamespace | undefined;

  constructor(name: string, world: World, link: Link | undefined, namespace: ProcessNamespace | undefined) {
    this.name = name;
    this.world = world;
    this.#link = link;
    this.namespace = namespace;
  }

  /** The host's connection to the database. */
  get link(): Link {
    if (this.#link === undefined) throw new Error('this host has no proxy');
    return this.#link;
  }

  /** The other host asks to join on its own machine; a person compares the fingerprint and admits it here. */
  async admit(other: FleetHost, agents: number, labels: readonly string[] = []): Promise<void> {
    const url = other.world.env['BATON_STORE'] ?? '';
    const labelled = labels.length === 0 ? [] : ['--labels', labels.join(',')];
    const asked = await other.world.type(['host', 'join', url, '--agents', String(agents), ...labelled]);
    const [fingerprint] = /\b[0-9a-f]{32}\b/.exec(asked.out) ?? [];
    if (asked.code !== 0 || fingerprint === undefined) throw new Error(`host join: ${asked.out}${asked.err}`);
    const admitted = await this.world.type(['host', 'admit', other.name, fingerprint]);
    if (admitted.code !== 0) throw new Error(`host admit: ${admitted.out}${admitted.err}`);
  }

  /** Simulates a power loss: daemon, supervisors and agents are killed at once. */
  async die(): Promise<void> {
    if (this.namespace === undefined) throw new Error('only a host with process ids of its own can die');
    await this.namespace[Symbol.asyncDispose]();
    await this.world.daemonEnds();
  }

  freeze(): void {
    this.world.freezeDaemon();
  }

  thaw(): void {
    this.world.thawDaemon();
  }

  async order<R = Record<string, unknown>>(operation: string, input: unknown = {}): Promise<R> {
    return (await this.world.order(operation, input)) as R; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /** Waits until this host has seen this many entries of the ledger. */
  async hasSeen(size: number): Promise<void> {
    await until(`${this.name} has seen entry ${size}`, async () => {
      const { seq } = await this.order<{ seq: number }>('status_get');
      return seq >= size;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link?.[Symbol.asyncDispose]();
    await this.namespace?.[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
  }
}
