import { event, type Event } from '../state/event.ts';
import { findMain, type MainMoved, type TrustedPosition } from '../state/main/main-branch.ts';
import type { Decision } from '../state/runs/decision.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import type { EngineContext } from './context.ts';
import { diffCommand } from './merge.ts';
import { replaceQuestion } from './decisions/lapse.ts';
import { askPeople } from './decisions/notify.ts';

/**
 * On `MainMoved`: opens one decision about commits that no person accepted, and replaces it if the branch moves
 * again while it is open. It is withdrawn if the branch moves back. After a denial, the next move that does not move the branch back
 * opens a new one.
 */
export function onMainMoved(world: EngineContext, moved: MainMoved): Event[] {
  const { state } = world;
  const main = findMain(state);
  if (main === undefined) return [];
  const asked = state.decisions.get(main.decisionId ?? '');
  const open = asked?.result === null ? asked : undefined;
  const { trusted } = main;
  if (trusted === null) {
    const reason = `${main.branch} is back at ${short(main.sha)}`;
    return open === undefined ? [] : [event('DecisionWithdrawn', { decision_id: open.id, reason })];
  }
  const context = describe(moved, trusted, open);
  const { branch } = trusted;
  const options = [
    { label: `Merge nothing until ${branch} is back at ${short(trusted.sha)}`, action: 'deny' },
    { label: 'Keep the commits', action: 'approve' },
  ] as const;
  const title = `The main branch needs attention: ${branch} was moved, but not by Baton`;
  const question = { source: 'integrity', title, context, options, branch } as const;
  return open === undefined ? askPeople(world, question) : replaceQuestion(world, open, question);
}

const OTHER_UPSTREAM =
  'The address of the upstream branch has changed (see: git remote -v); if you keep the commits, Baton accepts the new address.';

/** Describes the newest move first, then those that the open decision already describes. */
function describe(moved: MainMoved, trusted: TrustedPosition, open: Decision | undefined): string {
  const where = `Merges wait. The last accepted commit is ${trusted.sha}; ${moved.branch} is at ${moved.new}.`;
  const head = trusted.upstream === undefined ? where : `${where} ${OTHER_UPSTREAM}`;
  const earlier = open === undefined ? [] : [open.context.split('\n\n').slice(1).join('\n\n')];
  return excerptStart([head, describeMove(moved), ...earlier].filter((part) => part !== '').join('\n\n'));
}

function describeMove(moved: MainMoved): string {
  const { old, commits, fast_forward, on_upstream, previous_branch, authors, sessions, stat } = moved;
  const faults = [
    ...(previous_branch === undefined ? [] : [`the main branch was ${previous_branch} before`]),
    ...(fast_forward || previous_branch !== undefined ? [] : ['not a fast-forward']),
    ...(on_upstream === false ? ['not on the upstream branch'] : []),
  ];
  const alive = sessions.map(({ name, id, task_id }) =>
    task_id === null ? `${name} (${id.slice(0, 8)})` : `${name} (${id.slice(0, 8)}, ${task_id})`,
  );
  return [
    `${short(old ?? '')} -> ${short(moved.new)}: ${[`${commits} new ${commits === 1 ? 'commit' : 'commits'}`, ...faults].join(', ')}`,
    ...(authors.length === 0 ? [] : [`Authors: ${authors.join(', ')}`]),
    ...(alive.length === 0 ? [] : [`Sessions and commands that ran since the last check: ${alive.join(', ')}`]),
    ...(stat === null ? [] : [stat]),
    ...(old === null ? [] : [`See the change: ${diffCommand(old, moved.new)}`]),
  ].join('\n');
}

function short(sha: string): string {
  return sha.slice(0, 12);
}
