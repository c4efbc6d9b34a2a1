import { setTimeout as delay } from 'node:timers/promises';
import type { FleetHost } from '../../fleet/host.ts';

/** Creates tasks on every host, one after the other, while it runs. An acknowledged task must never be missing. */
export class Load {
  /** The ids of the tasks whose creation was acknowledged. */
  readonly acknowledged: string[] = [];
  /** The number of refusals and losses by code. */
  readonly failed = new Map<string, number>();
  /** The longest time without an acknowledgement. */
  longestGapMs = 0;
  readonly #running: Promise<void>[];
  #isOver = false;
  #lastMs = performance.now();

  constructor(hosts: readonly FleetHost[], name: string) {
    this.#running = hosts.map(async (host) => this.#run(host, name));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  async #run(host: FleetHost, name: string): Promise<void> {
    for (let n = 1; !this.#isOver; n += 1) {
      const task_id = `${name}-${host.name}-${n}`;
      const made = await host.world.client().call('task_create', { task_id, title: 'x' });
      if (made.ok) {
        this.acknowledged.push(task_id);
        this.longestGapMs = Math.max(this.longestGapMs, performance.now() - this.#lastMs);
        this.#lastMs = performance.now();
      } else this.failed.set(made.error.code, (this.failed.get(made.error.code) ?? 0) + 1);
      await delay(made.ok ? 20 : 100);
    }
  }
}
