import type { Caller } from '../caller.ts';
import type { Command } from '../decide.ts';
import { event, type Event } from '../event.ts';
import type { AdmitHost, FoundFleet } from './admit-host.ts';

/** Short forms of hosts' commands for tests. */
export const ROOT = '1'.repeat(40);
export const REMOTE = 'git@example.org:demo.git';

export function caretaker(term: number): Caller {
  return { kind: 'system', name: 'caretaker', term };
}

export function found(host = 'alpha', more: Partial<FoundFleet> = {}): Command {
  return { kind: 'found-fleet', command: { ...termsOf(host), rootCommit: ROOT, remote: REMOTE, ...more } };
}

export function admit(host = 'beta', more: Partial<AdmitHost> = {}): Command {
  return { kind: 'admit-host', command: { ...termsOf(host), rootCommit: ROOT, by: 'operator:ann', ...more } };
}

function termsOf(host: string): Omit<AdmitHost, 'rootCommit' | 'by'> {
  return { host, key: `key of ${host}`, publicKey: keyOf(host), labels: [], agents: 4 };
}

export function keyOf(host: string): string {
  return `baton.dev/p+${host}`;
}

export function drain(host = 'beta', draining = true): Command {
  return { kind: 'drain-host', command: { host, draining, by: 'operator:ann' } };
}

export function remove(host = 'beta', reason = 'burnt down'): Command {
  return { kind: 'remove-host', command: { host, reason, by: 'operator:ann' } };
}

export function care(host: string, term: number): Command {
  return { kind: 'change-caretaker', command: { host, term } };
}

export function pushed(host: string, epoch = 1, sha: string = 'a'.repeat(40), taskId = 'A'): Command {
  return { kind: 'report-push', command: { pushed: true, task_id: taskId, epoch, host, sha, wip: null } };
}

export function pushFailed(host: string, epoch = 1, reason = 'no route to host', taskId = 'A'): Command {
  return { kind: 'report-push', command: { pushed: false, task_id: taskId, epoch, host, sha: null, reason } };
}

/** The entry of an admitted host. */
export function hostJoined(host: string, by = 'operator:ann'): Event {
  const { publicKey, ...terms } = termsOf(host);
  return event('HostJoined', { ...terms, public_key: publicKey, by });
}
