import { textBlock } from '../../../acp/messages.ts';
import type { StepOutcome } from '../face.ts';
import { misbehave } from '../misbehave.ts';
import type { ScriptStep } from '../steps.ts';
import { type AcpClient, orCancelled } from './client.ts';
import type { AcpSession } from './session.ts';

/** Plays the steps of a broken agent that concern the protocol. The other steps are the same for every agent. */
export async function misbehaveInAcp(
  step: ScriptStep,
  session: AcpSession,
  client: AcpClient,
): Promise<StepOutcome | undefined> {
  if (step.do === 'rpc') client.write(`${lineOf(step.with, session.id, client.promptId())}\n`);
  else if (step.do === 'ignore' && step.with === 'cancel') session.ignoresCancel = true;
  else if (step.do === 'hang') await orCancelled(hangUnlessCancelled(session), session.signal);
  else {
    const outcome = await misbehave(step);
    if (step.do === 'flood') sendUpdates(step.with.updates ?? 0, client);
    return outcome;
  }
  return 'continues';
}

/** Waits until cancelled. An agent that ignores cancellation hangs even after its client has disconnected. */
async function hangUnlessCancelled({ ignoresCancel }: AcpSession): Promise<unknown> {
  return ignoresCancel ? misbehave({ do: 'hang' }) : new Promise(() => {});
}

function sendUpdates(count: number, client: AcpClient): void {
  for (let i = 1; i <= count; i += 1)
    client.update({ sessionUpdate: 'agent_message_chunk', content: textBlock(`update ${i} of ${count}. `) });
}

/** `$SESSION` and `$PROMPT` stand for the ids of the session and of the latest prompt request. */
function lineOf(message: unknown, sessionId: string, promptId: unknown): string {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const id = JSON.stringify(promptId ?? null);
  return text
    .replaceAll('"$PROMPT"', () => id)
    .replaceAll('$PROMPT', () => id)
    .replaceAll('$SESSION', () => sessionId);
}
