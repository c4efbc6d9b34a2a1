import type { Command } from '../../state/decide.ts';
import type { Effect } from '../../state/runs/effect.ts';
import type { State } from '../../state/state.ts';
import { sendControlToAgent } from './control-agent.ts';
import { fillMessage } from './handler-message.ts';
import { agentContext } from '../template-context.ts';
import type { EffectContext } from '../context.ts';

/** Says something to an agent, through its supervisor, which brings each message once however often it is sent. */
export async function sendMessage(
  { agentId, messageId, text, wakes }: Extract<Effect, { kind: 'send-message' }>,
  world: EffectContext,
): Promise<readonly Command[]> {
  const found = await world.readState((state) => {
    const run = state.agents.get(agentId);
    // The environment has no place in a message: it is on record as it was written.
    return (
      run && {
        start: run.start,
        permission: permissionOf(state, agentId),
        text: fillMessage(run.plan, text, agentContext(state, run, { env: undefined, sessions: world.sessions })),
      }
    );
  });
  if (found === undefined) return [];
  const { permission, text: words } = found;
  const said = {
    kind: 'send',
    message_id: messageId,
    text: words,
    ...(permission && { permission }),
    ...(wakes && { wakes }),
  } as const;
  const answer = await sendControlToAgent({ agentId, start: found.start }, said, world, world.times.controlMs);
  const reason = answer.ok ? null : answer.reason;
  return [{ kind: 'deliver-message', command: { messageId, ok: answer.ok, reason } }];
}

/** What a person decided last, where the agent had asked them for permission. */
function permissionOf({ decisions }: State, agentId: string): 'allow' | 'deny' | undefined {
  const asked = [...decisions.values()].findLast((each) => each.agentId === agentId);
  if (asked?.source !== 'prompt' || asked.result?.kind !== 'resolved') return undefined;
  if (asked.result.action === 'approve') return 'allow';
  return asked.result.action === 'deny' ? 'deny' : undefined;
}
