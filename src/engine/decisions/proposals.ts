import { renderCountOf } from '../../protocol/text/text-format.ts';
import { event, type Event } from '../../state/event.ts';
import type { Decision, DecisionAction } from '../../state/runs/decision.ts';
import { EXCERPT_CHARACTERS, excerptStart } from '../../state/runs/excerpt.ts';
import type { Question } from '../../state/runs/resolve-decision.ts';
import type { State } from '../../state/state.ts';
import { acceptProposals } from '../../state/families/propose-task.ts';
import type { Proposal } from '../../state/families/task-family.ts';
import type { EngineContext } from '../context.ts';
import { replaceQuestion } from './lapse.ts';
import { askPeople } from './notify.ts';

/**
 * On `TaskProposed`: opens one decision with all proposals below a task of a person. A later proposal replaces it, so
 * that no answer covers a proposal that its author did not see.
 */
export function askAboutProposals(world: EngineContext, root: string): Event[] {
  const proposals = listProposals(world.state, root);
  const newest = proposals.at(-1);
  if (newest === undefined) return [];
  const open = findOpen(world.state, root);
  const title = `Agents propose tasks: more than they may create below ${root}`;
  const question: Question = {
    source: 'prompt',
    title,
    context: describe(root, proposals),
    options: [
      { label: 'Create the proposed tasks', action: 'approve' },
      { label: 'Drop them', action: 'deny' },
    ],
    // Whether the work is wanted is for the person to say.
    recommends: null,
    proposals_of: root,
  };
  return open === undefined ? askPeople(world, question) : replaceQuestion(world, open, question);
}

/** Lists every proposal: if they do not fit into one question, their titles are cut. */
function describe(root: string, proposals: readonly Proposal[]): string {
  const full = renderList(root, proposals, Infinity);
  if (full.length <= EXCERPT_CHARACTERS) return full;
  const room = EXCERPT_CHARACTERS - renderList(root, proposals, 0).length;
  // An escaped character is two.
  return renderList(root, proposals, Math.max(0, Math.floor(room / proposals.length / 2)));
}

/** Titles are text of agents: each is quoted on a line of its own. */
function renderList(root: string, proposals: readonly Proposal[], most: number): string {
  const lines = proposals.map(
    ({ seq, task_id, title, made_by }) =>
      `  ${task_id}: ${JSON.stringify(excerptStart(title, most))} (by a session of ${made_by.task_id}, entry ${seq})`,
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
