import { userInfo } from 'node:os';
import type { Client } from '../../api/client/client.ts';
import { ensureWorkerToken } from '../../api/client/connect.ts';
import {
  listOwnClaims,
  listOwnSessions,
  type OwnClaim,
  type OwnSession,
  removeOwnSession,
  saveOwnClaim,
  saveOwnSession,
} from '../../api/client/own-session.ts';
import type { ProjectBrief } from '../../api/operations/project.ts';
import { hasEnded } from '../../api/processes.ts';
import { releaseHookClaims } from './end.ts';
import { connectAsWorker, findClientProcess, type HookCall, type HookOutput } from './hook-call.ts';
import { isKnownProject } from './known-project.ts';

/** Registers the session, claims a task if the user configured that, and returns a brief of the project. */
export async function startSession(call: HookCall): Promise<HookOutput> {
  const { client: name, input, stateDir } = call;
  const above = findClientProcess();
  if (above === undefined) return {};
  const session = saveOwnSession(stateDir, {
    client: name,
    conversation: input.conversation,
    process: above.identity,
    cwd: input.cwd,
    started: Date.now(),
  });
  if (input.source === 'clear' && name !== 'codex') takeOverClaims(stateDir, session);
  if (!isKnownProject(stateDir, input.cwd)) return {};
  const refused = call.principal === undefined ? undefined : await ensureWorkerToken(call.principal, call.env);
  if (refused !== undefined) return { note: `${refused.message}. The session continues without it. ${refused.hint}` };
  const client = connectAsWorker(call, { autostart: true, reachMs: 8000 });
  try {
    const away = await client.reach();
    if (away !== undefined) return { note: `${away.message}. The session continues without it. ${away.hint}` };
    await client.deliverKept();
    await releaseDeadSessions(client, stateDir, session);
    const held = await findHeld(client, session);
    const claimed = call.claims && held.length === 0 ? await claimNext(client, call, session, above.pid) : undefined;
    const brief = await client.call('project_brief', {});
    if (!brief.ok) return { note: brief.error.message };
    const holds = claimed === undefined ? held : [claimed];
    return { context: renderProjectBrief(brief.result, holds, await briefOf(client, claimed)) };
  } finally {
    client.close();
  }
}

/**
 * Takes over the claims of the same process after a `clear`. Codex keeps the old conversation, which continues
 * separately.
 */
function takeOverClaims(stateDir: string, session: OwnSession): void {
  for (const other of listOwnSessions(stateDir)) {
    if (other.process !== session.process || other.folder === session.folder) continue;
    for (const claim of listOwnClaims(other)) saveOwnClaim(session, claim);
    removeOwnSession(other);
  }
}

async function findHeld(client: Client, session: OwnSession): Promise<readonly OwnClaim[]> {
  const held: OwnClaim[] = [];
  for (const claim of listOwnClaims(session)) {
    const answer = await client.call('task_heartbeat', {}, { token: claim.token });
    if (answer.ok) held.push(claim);
  }
  return held;
}

async function claimNext(
  client: Client,
  call: HookCall,
  session: OwnSession,
  pid: number,
): Promise<OwnClaim | undefined> {
  const answer = await client.call('task_claim', { as: `${call.client} (${personName()})`, pid });
  if (!answer.ok) return undefined;
  const { task_id, session_id, token } = answer.result;
  const claim = { task_id, session_id, token, by_hook: true };
  saveOwnClaim(session, claim);
  return claim;
}

async function briefOf(client: Client, claim: OwnClaim | undefined): Promise<string | undefined> {
  if (claim === undefined) return undefined;
  const answer = await client.call('task_brief', { task_id: claim.task_id });
  return answer.ok ? answer.result.text : undefined;
}

function personName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Releases the claims of sessions whose process is gone, because killed clients run no end hook. Only claims that a
 * hook made are released; the user's own expire unless the user resumes.
 */
export async function releaseDeadSessions(client: Client, stateDir: string, session: OwnSession): Promise<void> {
  for (const other of listOwnSessions(stateDir)) {
    if (other.folder === session.folder || !hasEnded(other.process)) continue;
    await releaseHookClaims(client, other, 'the session ended without reporting it');
    const isOld = Date.now() - other.started > DAY_MS;
    if (listOwnClaims(other).length === 0 || isOld) removeOwnSession(other);
  }
}

/**
 * The text that a session starts with. Other agents' text is fenced, so that the model does not read it as
 * instructions.
 */
export function renderProjectBrief(brief: ProjectBrief, held: readonly OwnClaim[], ofTask: string | undefined): string {
  const others = brief.claimed.filter(({ id }) => !held.some(({ task_id }) => task_id === id));
  const parts = [
    'Baton shares out the tasks of this repository and keeps the record of who did what.',
    held.length === 0 ? describeClaimable(brief) : describeHeld(held),
    describeLast(brief.last_session),
    others.length === 0 ? '' : `Other sessions work on: ${others.map(describeClaimed).join('; ')}.`,
    brief.decisions === 0 ? '' : `${brief.decisions} decisions wait for the person: \`baton decision list\`.`,
    ofTask === undefined ? '' : `What is known about your task:\n\n${ofTask}`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function describeClaimable({ claimable }: ProjectBrief): string {
  if (claimable.length === 0) return 'There is no task to claim at the moment.';
  const lines = claimable.map(({ id, title, phase }) => `- ${id} (${phase}): ${line(title)}`);
  return [
    'Tasks to claim, the most urgent first:',
    ...lines,
    'Claim a task only when the person wants work on it: task_claim, then task_brief. Until then no hook blocks you.',
  ].join('\n');
}

function describeHeld(held: readonly OwnClaim[]): string {
  return [
    `This session holds ${held.map(({ task_id }) => task_id).join(', ')}: no other session can work on it meanwhile.`,
    'When the work is done: commit, thought_record, then task_update with status done. If this session does not finish it: task_release with the reason.',
  ].join('\n');
}

function describeLast(last: ProjectBrief['last_session']): string {
  if (last === null) return '';
  const why = last.reason === null ? '' : ` (${line(last.reason)})`;
  const intro = `The last session (${line(last.holder)}) worked on ${last.task_id}, ${line(last.title)}: ${last.how}${why}; it is ${last.phase} now.`;
  if (last.record === null) return `${intro} It left no record.`;
  const { summary, branch, commit_sha } = last.record;
  return `${intro} It left branch ${line(branch)} at ${commit_sha} and this record:\n\n${fenced(summary.slice(0, MOST_OF_A_RECORD))}`;
}

const MOST_OF_A_RECORD = 1500;

function describeClaimed({ id, title, holder }: ProjectBrief['claimed'][number]): string {
  return `${id}, ${line(title)} (${line(holder)})`;
}

/** Uses a fence longer than any in the text, so that the text cannot close it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function line(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
}
