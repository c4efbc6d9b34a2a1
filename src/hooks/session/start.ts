import { userInfo } from 'node:os';
import type { Client } from '../../api/client/client.ts';
import { parseOwnClaim } from '../../api/client/own-claims.ts';
import { ensureWorkerToken } from '../../api/client/worker-token.ts';
import {
  removeOwnSession,
  saveOwnClaim,
  saveOwnSession,
  listOwnClaims,
  listOwnSessions,
  type OwnClaim,
  type OwnSession,
} from '../../api/client/own-session.ts';
import { renderProjectBrief, type ProjectBrief } from './brief.ts';
import type { HookOutput } from './hook-call.ts';
import { isKnownProject } from './known-project.ts';
import { releaseDeadSessions } from './settle-others.ts';
import { findClientProcess, connectAsWorker, type HookCall } from './world.ts';

/** A session begins: it is known from now on, gets a task where the person wanted that, and hears where the work stands. */
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
  if (refused !== undefined) return { note: `${refused.message}. The session goes on without it. ${refused.hint}` };
  const client = connectAsWorker(call, { autostart: true, reachMs: 8000 });
  try {
    const away = await client.reach();
    if (away !== undefined) return { note: `${away.message}. The session goes on without it. ${away.hint}` };
    await client.deliverKept();
    await releaseDeadSessions(client, stateDir, session);
    const held = await findHeld(client, session);
    const claimed = call.claims && held.length === 0 ? await claimNext(client, call, session, above.pid) : undefined;
    const brief = await client.call('project_brief', {});
    if (!brief.ok) return { note: brief.error.message };
    const holds = claimed === undefined ? held : [claimed];
    // The daemon's own answer.
    return { context: renderProjectBrief(brief.result as ProjectBrief, holds, await briefOf(client, claimed)) }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  } finally {
    client.close();
  }
}

/** The same process goes on with an empty conversation, and with what it held. Codex keeps the one before, which goes on by itself. */
function takeOverClaims(stateDir: string, session: OwnSession): void {
  for (const other of listOwnSessions(stateDir)) {
    if (other.process !== session.process || other.folder === session.folder) continue;
    for (const claim of listOwnClaims(other)) saveOwnClaim(session, claim);
    removeOwnSession(other);
  }
}

/** What this client's process, or the conversation that it goes on with, still holds. */
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
  const claim = answer.ok ? parseOwnClaim(answer.result, true) : undefined;
  if (claim !== undefined) saveOwnClaim(session, claim);
  return claim;
}

async function briefOf(client: Client, claim: OwnClaim | undefined): Promise<string | undefined> {
  if (claim === undefined) return undefined;
  const answer = await client.call('task_brief', { task_id: claim.task_id });
  const text: unknown = answer.ok ? Reflect.get(Object(answer.result), 'text') : undefined;
  return typeof text === 'string' ? text : undefined;
}

function personName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'somebody';
  }
}
