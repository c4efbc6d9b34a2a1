import type { Command } from '../state/decide.ts';
import type { Effect } from '../state/runs/effect.ts';
import { controlAgent } from './control-agent.ts';
import type { World } from './world.ts';

/** Says something to an agent, through its supervisor, which brings each message once however often it is sent. */
export async function sendMessage(
  { agentId, messageId, text }: Extract<Effect, { kind: 'send-message' }>,
  world: World,
): Promise<readonly Command[]> {
  const start = (await world.read((state) => state.agents.get(agentId)?.start)) ?? 1;
  const said = { kind: 'send', message_id: messageId, text } as const;
  const answer = await controlAgent({ agentId, start }, said, world, world.times.controlMs);
  const reason = answer.ok ? null : answer.reason;
  return [{ kind: 'deliver-message', command: { messageId, ok: answer.ok, reason } }];
}
