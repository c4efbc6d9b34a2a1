import type { Command } from '../../state/decide.ts';
import { event } from '../../state/event.ts';
import type { World } from '../world/parts.ts';
import { type Acts, pick, type Scene, SYSTEM } from './scene.ts';

/** What people do with the main branch, the rules, the keys and the hosts of a project. */
export const HOST_ACTS = {
  'commit by hand': ({ world, n }) => commit(world.git, [world.git.main], n),
  'rewrite main': ({ world: { git }, n }) => commit(git, git.find(git.main)?.parents ?? [git.main], n),
  adopt: ({ say, n }) =>
    say({ kind: 'adopt-runbook', command: { ...runbookOf(n), commit: null, committed: null, by: 'operator:ann' } }),
  'ask adoption': ({ world, say, n }) => {
    const rules = runbookOf(n);
    const command = {
      decisionId: world.newId('d'),
      ...rules,
      former: rules.sha256,
      commit: world.git.main,
      differences: 'x',
    };
    return world.rules.adopted?.has(command.sha256) === true && say({ kind: 'ask-adoption', command }, SYSTEM);
  },
  'drop adoptions': ({ say }) => say({ kind: 'drop-adoption-questions', command: null }, SYSTEM),
  'decline checks': ({ say }) => say({ kind: 'decline-checks', command: { by: 'operator:ann' } }),
  'add page': ({ say, n }) => {
    const page = { key_id: pageOf(n), name: 'a browser', public_key: 'k', origin: 'http://127.0.0.1' };
    return say({ kind: 'add-page-key', command: page });
  },
  'revoke page': ({ say, n }) =>
    say({ kind: 'revoke-page-key', command: { key_id: pageOf(n), reason: 'the laptop is lost' } }),
  'write by page': ({ say, sayOfATask, n }) =>
    sayOfATask(({ id }) => {
      const note = { kind: 'note-task', command: { task_id: id, text: 'seen' } } as const;
      return say(note, { kind: 'operator', name: 'ann', via: pageOf(n) }) ? note : undefined;
    }),
  webhook: ({ world, host, n }) => {
    const delivery = { delivery_id: world.newId('delivery-'), source: 'github', event: n % 2 === 0 ? 'push' : 'check_run' } as const; // prettier-ignore
    return host.record([event('WebhookReceived', delivery)], 'system:github');
  },
  'accept store': ({ world, say }) =>
    say({ kind: 'accept-store', command: { size: world.chain.size, hash: 'h', differs_at: 1, by: 'ann' } }),
  drain: (scene) => govern(scene, drain(scene, true)),
  'undo drain': (scene) => govern(scene, drain(scene, false)),
  'remove host': (scene) => {
    const name = nameOf(scene, 1);
    if (name === scene.host.name) return false;
    return govern(scene, { kind: 'remove-host', command: { host: name, reason: 'it burnt', by: 'ann' } });
  },
  'admit host': (scene) => govern(scene, admitCommand(scene.world, nameOf(scene))),
  'change remote': (scene) =>
    govern(scene, { kind: 'change-remote', command: { remote: `git@example.org:${scene.n}.git`, by: 'ann' } }),
} satisfies Acts;

function commit(git: Scene['world']['git'], parents: readonly string[], n: number): boolean {
  const tree = { ...git.treeOf(parents[0] ?? git.main), [n % 2 === 0 ? 'shared.ts' : 'hand.ts']: `by hand ${n}` };
  git.main = git.commit(parents, tree, 'operator:ann');
  return true;
}

/** On one host there is no fleet to govern. */
function govern({ world, say }: Scene, command: Command): boolean {
  return !world.isFleet || say(command);
}

function drain(scene: Scene, draining: boolean): Command {
  return { kind: 'drain-host', command: { host: nameOf(scene), draining, by: 'ann' } };
}

export function admitCommand({ hosts }: Pick<World, 'hosts'>, host: string): Command {
  const labels = hosts.at(-1)?.name === host ? [LABEL] : [];
  const terms = { host, key: `key of ${host}`, publicKey: `baton.dev/p+${host}`, labels, agents: 4 };
  return { kind: 'admit-host', command: { ...terms, rootCommit: '1'.repeat(40), by: 'operator:ann' } };
}

/** Of the last host. */
export const LABEL = 'large';

function nameOf({ world, n }: Scene, more = 0): string {
  return pick(world.hosts, n + more)?.name ?? '';
}

function pageOf(n: number): string {
  return `page-1-0000000${n % 2}`;
}

export const RUNBOOKS: readonly string[] = ['a'.repeat(64), 'b'.repeat(64)];

function runbookOf(n: number): { readonly sha256: string } {
  return { sha256: RUNBOOKS[n % RUNBOOKS.length] ?? '' };
}
