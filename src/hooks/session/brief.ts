import type { OwnClaim } from '../../api/client/own-session.ts';

/** The answer to `project_brief`. */
export interface ProjectBrief {
  readonly claimable: readonly { readonly id: string; readonly title: string; readonly phase: string }[];
  readonly claimed: readonly { readonly id: string; readonly title: string; readonly holder: string }[];
  readonly claimed_total: number;
  readonly decisions: number;
  readonly last_session: LastSession | null;
}

interface LastSession {
  readonly task_id: string;
  readonly title: string;
  readonly phase: string;
  readonly how: string;
  readonly holder: string;
  readonly reason: string | null;
  readonly record: { readonly summary: string; readonly branch: string; readonly commit_sha: string } | null;
}

/** What a session is told when it begins, in a page at most. Words of other agents stand in a fence: they are no orders. */
export function renderProjectBrief(brief: ProjectBrief, held: readonly OwnClaim[], ofTask: string | undefined): string {
  const parts = [
    'Baton shares out the tasks of this repository and keeps the record of who did what.',
    held.length === 0 ? describeClaimable(brief) : describeHeld(held),
    describeLast(brief.last_session),
    brief.claimed_total === 0
      ? ''
      : `Others work on: ${brief.claimed.filter(isOthers(held)).map(describeClaimed).join('; ')}.`,
    brief.decisions === 0 ? '' : `${brief.decisions} decisions wait for the person: \`baton decision list\`.`,
    ofTask === undefined ? '' : `What is known about your task:\n\n${ofTask}`,
  ];
  return parts.filter((part) => part !== '' && part !== 'Others work on: .').join('\n\n');
}

function describeClaimable({ claimable }: ProjectBrief): string {
  if (claimable.length === 0) return 'There is nothing to claim at the moment.';
  const lines = claimable.map(({ id, title, phase }) => `- ${id} (${phase}): ${line(title)}`);
  return [
    'To be claimed, the most urgent first:',
    ...lines,
    'Claim a task only when the person wants work on it: task_claim, then task_brief. Until then nothing here holds you.',
  ].join('\n');
}

function describeHeld(held: readonly OwnClaim[]): string {
  return [
    `This session holds ${held.map(({ task_id }) => task_id).join(', ')}: nobody else can work on it meanwhile.`,
    'When the work is done: commit, thought_record, then task_update with status done. If it is not to be done here: task_release with the reason.',
  ].join('\n');
}

function describeLast(last: LastSession | null): string {
  if (last === null) return '';
  const why = last.reason === null ? '' : ` (${line(last.reason)})`;
  const said = `The last session (${line(last.holder)}) worked on ${last.task_id}, ${line(last.title)}: ${last.how}${why}; it is ${last.phase} now.`;
  if (last.record === null) return `${said} It left no record.`;
  const { summary, branch, commit_sha } = last.record;
  return `${said} It left branch ${line(branch)} at ${commit_sha} and this record:\n\n${fenced(summary.slice(0, MOST_OF_A_RECORD))}`;
}

const MOST_OF_A_RECORD = 1500;

function isOthers(held: readonly OwnClaim[]) {
  return ({ id }: { readonly id: string }): boolean => !held.some(({ task_id }) => task_id === id);
}

function describeClaimed({ id, title, holder }: ProjectBrief['claimed'][number]): string {
  return `${id}, ${line(title)} (${line(holder)})`;
}

/** Words of other agents are data: they stand in a fence that they cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function line(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}
