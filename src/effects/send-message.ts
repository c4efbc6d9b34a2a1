import type { Command } from '../state/decide.ts';
import type { Effect } from '../state/runs/effect.ts';
import { controlAgent } from './control-agent.ts';
import { fillMessage } from './handler-message.ts';
import { contextOfAgent } from './template-context.ts';
import type { World } from './world.ts';

/** Says something to an agent, through its supervisor, which brings each message once however often it is sent. */
export async function sendMessage(
  { agentId, messageId, text }: Extract<Effect, { kind: 'send-message' }>,
  world: World,
): Promise<readonly Command[]> {
  const found = await world.read((state) => {
    const run = state.agents.get(agentId);
    // The environment has no place in a message: it is on record as it was written.
    return run && { start: run.start, text: fillMessage(run.plan, text, contextOfAgent(state, run, undefined)) };
  });
  if (found === undefined) return [];
  const said = { kind: 'send', message_id: messageId, text: found.text } as const;
  const answer = await controlAgent({ agentId, start: found.start }, said, world, world.times.controlMs);
  const reason = answer.ok ? null : answer.reason;
  return [{ kind: 'deliver-message', command: { messageId, ok: answer.ok, reason } }];
}
