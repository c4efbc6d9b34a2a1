import type { Client } from 'pg';
import { sameBytes } from '../format/bytes.ts';
import type { Head } from '../store.ts';
import { rolledBack, type PostgresProblem } from './problems.ts';

export interface ContinuityCheck {
  note(head: Head): Head;
  /** Throws, from now on always, where the chain behind a new connection is not the one that was seen before. */
  require(client: Client, project: number): Promise<void>;
}

/**
 * A server that comes back may be another one: a standby that had not received everything, or a restored backup. So
 * each new connection is asked for the newest entry this process has ever seen, before anything is read or written.
 */
export function makeContinuityCheck(): ContinuityCheck {
  let seen: Head | undefined;
  let lost: PostgresProblem | undefined;

  return {
    note(head) {
      if (head.size > (seen?.size ?? 0)) seen = head;
      return head;
    },
    async require(client, project) {
      if (seen !== undefined && !(await contains(client, project, seen))) lost = rolledBack(seen.size);
      if (lost !== undefined) throw lost;
    },
  };
}

async function contains(client: Client, project: number, { size, hash }: Head): Promise<boolean> {
  const { rows } = await client.query<{ hash: Buffer }>({
    text: 'SELECT hash FROM baton.entry WHERE project = $1 AND seq = $2',
    values: [project, size],
  });
  return rows[0] !== undefined && sameBytes(rows[0].hash, hash);
}
