import type { Client } from '../../api/client/client.ts';
import {
  findOwnSession,
  listOwnClaims,
  type OwnClaim,
  type OwnSession,
  removeOwnClaim,
} from '../../api/client/own-session.ts';
import { CLAIM_OVER_CODES } from '../../api/client/renew-claims.ts';
import { stateFiles } from '../../api/state-folder.ts';
import { decideStop } from '../../protocol/decide-stop.ts';
import type { Standing } from '../../protocol/standing.ts';
import { hasSignalInOutbox } from '../../supervisor/outbox-signal.ts';
import { connectAsWorker, type HookCall, type HookOutput } from './hook-call.ts';
import { readLastBlock, writeLastBlock } from './last-block.ts';

/**
 * Blocks at most once per message, if the session holds a task and has recorded nothing. Never blocks without a task or
 * an answer of the daemon.
 */
export async function stopTurn(call: HookCall): Promise<HookOutput> {
  const session = findOwnSession(call.stateDir, call.env, call.input.conversation || undefined);
  const claims = session === undefined ? [] : listOwnClaims(session);
  if (session === undefined || claims.length === 0) return {};
  const client = connectAsWorker(call, { autostart: false, reachMs: 3000 });
  try {
    for (const claim of claims) {
      const standing = await askStanding(client, session, claim);
      if (standing === 'away') return { note: awayNote(claim) };
      if (standing === 'over') continue;
      const hasSignalled = standing.has_signalled || hasSignalInOutbox(stateFiles(call.stateDir).outbox, claim.token);
      const { output } = decideStop({
        agentId: claim.session_id,
        onStop: 'signal',
        attempts: undefined,
        isHookActive: call.input.isHookActive || (call.client === 'gemini' && readLastBlock(session) !== undefined),
        blocks: 0,
        totalBlocks: 0,
        // The client's flag limits blocks to one per message.
        maxBlocks: 1,
        hasSignalled,
        isOwned: standing.is_owned,
        isParked: standing.is_parked,
        missing: standing.missing,
        // A client that a person started has no supervisor that could match its calls.
        usesTools: false,
      });
      if (output.decision === 'allow') continue;
      const block = `${output.reason}\n${describeWays(claim)}`;
      writeLastBlock(session, block);
      return { block };
    }
    return {};
  } finally {
    client.close();
  }
}

async function askStanding(client: Client, session: OwnSession, claim: OwnClaim): Promise<Standing | 'away' | 'over'> {
  const { token } = claim;
  const answer = await client.call('agent_standing', {}, { token, timeoutMs: 5000 });
  if (answer.ok && answer.result?.is_owned === true) {
    // The end of a turn proves that the session is alive: renew its claim.
    await client.call('task_heartbeat', {}, { token, timeoutMs: 5000 });
    return answer.result;
  }
  const isOver = answer.ok || CLAIM_OVER_CODES.has(answer.error.code);
  if (isOver) removeOwnClaim(session, claim);
  return isOver ? 'over' : 'away';
}

function describeWays({ task_id }: OwnClaim): string {
  return (
    `This session holds ${task_id}. The tools of Baton do the same: agent_signal; or thought_record and task_update with status done; ` +
    'or task_release, which gives it back. If the person only asked something, answer it and signal continue.'
  );
}

function awayNote({ task_id }: OwnClaim): string {
  return `no daemon answers, so Baton cannot check what is still missing for ${task_id}; you keep the task, and your calls are kept. Start the daemon with: baton up`;
}
