import { renderCountOf } from '../../protocol/text/text-format.ts';
import { event, type Event } from '../../state/event.ts';
import type { Decision, DecisionAction } from '../../state/runs/decision.ts';
import type { State } from '../../state/state.ts';
import { acceptProposals } from '../../state/families/propose-task.ts';
import type { Proposal } from '../../state/families/task-family.ts';
import type { EngineContext } from '../context.ts';
import { askPeople } from './notify.ts';

/**
 * On `TaskProposed`: opens one decision with all proposals below a task of a person. A later proposal extends it, so
 * that an answer to the shorter list lapses.
 */
export function askAboutProposals(world: EngineContext, root: string): Event[] {
  const proposals = listProposals(world.state, root);
  const newest = proposals.at(-1);
  if (newest === undefined) return [];
  const context = describe(root, proposals);
  const open = findOpen(world.state, root);
  if (open !== undefined) return [event('DecisionExtended', { decision_id: open.id, context })];
  const title = `Agents propose tasks: more than they may create below ${root}`;
  return askPeople(world, {
    source: 'prompt',
    title,
    context,
    options: [
      { label: 'Create the proposed tasks', action: 'approve' },
      { label: 'Drop them', action: 'deny' },
    ],
    // Whether the work is wanted is for the person to say.
    recommends: null,
    proposals_of: root,
  });
}

/** Titles are text of agents: each is quoted on a line of its own. */
function describe(root: string, proposals: readonly Proposal[]): string {
  const lines = proposals.map(
    ({ seq, task_id, title, made_by }) =>
      `  ${task_id}: ${JSON.stringify(title)} (by a session of ${made_by.task_id}, entry ${seq})`,
  );
  const limits = [...new Set(proposals.map(({ over }) => `limits.tasks.${over}`))].join(' and ');
  return [
    `Sessions below ${root} ask for ${renderCountOf(proposals.length, 'task')} beyond ${limits}:`,
    ...lines,
    'For a whole proposal: baton ledger show ENTRY',
  ].join('\n');
}

/** On the answer. */
export function settleProposals(
  { state }: EngineContext,
  { result }: Decision,
  root: string,
  action: DecisionAction,
): Event[] {
  const by = result?.kind === 'resolved' ? result.by : 'operator';
  if (action !== 'approve') return settled(root, [], idsOf(listProposals(state, root)));
  const { created, accepted, dropped } = acceptProposals(state, root, by);
  return [...settled(root, accepted, dropped), ...created];
}

/** The task of the person is cancelled. */
export function dropProposals(state: State, root: string, reason: string): Event[] {
  const open = findOpen(state, root);
  const withdrawn = open === undefined ? [] : [event('DecisionWithdrawn', { decision_id: open.id, reason })];
  return [...withdrawn, ...settled(root, [], idsOf(listProposals(state, root)))];
}

function settled(root: string, accepted: readonly string[], dropped: readonly string[]): Event[] {
  return accepted.length + dropped.length === 0 ? [] : [event('ProposalsSettled', { root, accepted, dropped })];
}

function idsOf(proposals: readonly Proposal[]): string[] {
  return proposals.map(({ task_id }) => task_id);
}

function listProposals({ families }: State, root: string): readonly Proposal[] {
  return families.get(root)?.proposals ?? [];
}

function findOpen({ decisions }: State, root: string): Decision | undefined {
  return [...decisions.values()].find(({ proposalsOf, result }) => proposalsOf === root && result === null);
}
