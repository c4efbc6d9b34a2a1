import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { StatusView } from '../../api/run-views.ts';
import { followView, type ViewListener } from '../run/follow-view.ts';

/** Reports the status after each change until `signal` aborts. */
export async function followStatus(
  client: Client,
  unreached: ApiError | undefined,
  signal: AbortSignal,
  listener: ViewListener<StatusView>,
): Promise<void> {
  const read = async (until: AbortSignal) => client.call('status_get', {}, { signal: until });
  await followView(client, { read, signal, unreached }, listener);
}
