import type { Client } from '../../src/api/client/client.ts';
import { exitSignal, record } from './messages.ts';
import type { World } from './world.ts';

/** Calls an operation that must succeed. */
export async function ask(client: Client, operation: string, input: unknown): Promise<Record<string, unknown>> {
  const answer = await client.forward(operation, input);
  if (!answer.ok) throw new Error(`${operation}: ${answer.error.code}: ${answer.error.message}`);
  return { ...(answer.result as object) }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Completes one phase with one claim by hand; returns its token, which is then that of an ended session. */
export async function complete(
  world: World,
  claimant: Client,
  taskId: string,
  phase: string,
  head?: string,
): Promise<string> {
  const { token } = await ask(claimant, 'task_claim', { task_id: taskId, as: 'ada' });
  const client = world.client(String(token));
  if (head !== undefined) await ask(client, 'thought_record', record(taskId, head, { branch: `feature/${taskId}` }));
  await ask(client, 'exit_signal', exitSignal(phase));
  return String(token);
}

/**
 * Creates a branch with work, which the shared worker implements and hands to review. Returns the implementer's token.
 */
export async function implement(
  world: World,
  taskId: string,
): Promise<{ readonly token: string; readonly head: string }> {
  world.git(world.repository, 'switch', '--quiet', '--create', `feature/${taskId}`);
  const head = world.commit(world.repository, { [`${taskId}.txt`]: 'work\n' }, taskId);
  world.git(world.repository, 'switch', '--quiet', 'main');
  await world.order('task_create', { task_id: taskId, title: taskId });
  const worker = world.workerClient();
  const token = await complete(world, worker, taskId, 'IMPLEMENTATION', head);
  await complete(world, worker, taskId, 'CI_PENDING');
  return { token, head };
}

/** Reviews and approves as the operator: the task is ready to be merged. */
export async function review(world: World, taskId: string): Promise<void> {
  await complete(world, world.client(), taskId, 'REVIEW');
}

export const EXIT_PROTOCOL = { AGENT_EXIT_PROTOCOL_ENABLED: 'true' } as const;
