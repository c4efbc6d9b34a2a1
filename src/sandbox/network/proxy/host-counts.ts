import type { HostCount } from '../../../protocol/sandbox.ts';
import type { OutboundRules } from './find-route.ts';
import { renderTarget, type Target } from './host-rules.ts';

const MAX_HOSTS = 200;
const MAX_NOTES = 50;
const OTHERS = '(other hosts)';

/** Counts how often a session requested each host, and notes each refused host or path once. Both are bounded. */
export class HostCounts {
  readonly #counts = new Map<string, { allowed: number; refused: number }>();
  readonly #noted = new Set<string>();
  readonly #onNote: (line: string) => void;

  constructor(onNote: (line: string) => void) {
    this.#onNote = onNote;
  }

  allow(host: string): void {
    this.#row(host).allowed++;
  }

  /** `what`: what the note is about, if it is not the whole host. */
  refuse(host: string, note: string, what = host): void {
    this.#row(host).refused++;
    if (this.#noted.has(what) || this.#noted.size > MAX_NOTES) return;
    this.#noted.add(what);
    this.#onNote(this.#noted.size > MAX_NOTES ? 'baton: further refused requests are counted, but not named' : note);
  }

  list(): readonly HostCount[] {
    return [...this.#counts].map(([host, count]) => ({ host, ...count }));
  }

  #row(host: string): { allowed: number; refused: number } {
    const name = this.#counts.has(host) || this.#counts.size < MAX_HOSTS ? host : OTHERS;
    const row = this.#counts.get(name) ?? { allowed: 0, refused: 0 };
    this.#counts.set(name, row);
    return row;
  }
}

/** Renders a refusal with the exact setting, so that the operator can copy it. */
export function renderRefusal(host: string, { name, hosts: rules }: Pick<OutboundRules, 'name' | 'hosts'>): string {
  const refusal = `baton: the network policy refused ${host}. To allow it, write in the agent's settings:`;
  if (name !== undefined) return `${refusal} network = { policy = "${name}", hosts = [${JSON.stringify(host)}] }`;
  const hosts = rules === 'all' ? [] : rules;
  const listed = hosts.length > MAX_LISTED ? ['…'] : hosts.map((each) => JSON.stringify(each));
  const setting = `network = [${[...listed, JSON.stringify(host)].join(', ')}]`;
  return `${refusal} ${setting}`;
}

/**
 * Renders a refusal of a local port: a list of hosts cannot open a port of this machine, and no setting opens Baton's
 * ports.
 */
export function renderLocalRefusal(target: Target, forbiddenPorts: readonly number[]): string {
  const refusal = `baton: the network policy refused ${renderTarget(target)}, a port of this machine.`;
  return forbiddenPorts.includes(target.port) ? refusal : `${refusal} To allow it: network.local = [${target.port}]`;
}

const MAX_LISTED = 8;
