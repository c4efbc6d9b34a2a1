import type { Requirement } from '../event.ts';
import { refusal } from '../outcome.ts';
import type { Claim, Task } from './task.ts';
import { hasWriteback } from './writeback.ts';

/** Check 12: what the session owes and has not sent. */
export function findMissingMessages(task: Task, claim: Claim, committed: boolean): Requirement[] {
  const owed: readonly Requirement[] = committed ? [...claim.requires, 'thought_record'] : claim.requires;
  return [...new Set(owed)].filter((requirement) => !isSent(requirement, task, claim));
}

function isSent(requirement: Requirement, task: Task, claim: Claim): boolean {
  switch (requirement) {
    case 'exit':
      return true;
    case 'result':
      return claim.resultStatus !== null;
    case 'handoff':
      return claim.handoff !== null;
    case 'thought_record':
      return hasWriteback(task, claim);
  }
}

export function refuseMissing(missing: readonly Requirement[]): ReturnType<typeof refusal> {
  const message = `cannot complete: missing ${missing.join(', ')}`;
  return refusal(
    'missing',
    message,
    `Send what is missing, then the exit signal again. ${missing.map((each) => `${each}: ${SEND_COMMANDS[each]}`).join('; ')}`,
  );
}

/** For a message that a session ended without: names what is missing, and how a session sends it. */
export function describeMissing(missing: readonly Requirement[]): string {
  return missing.length === 0 ? '' : `missing ${missing.map((each) => `${each} (${SEND_COMMANDS[each]})`).join(', ')}`;
}

const SEND_COMMANDS = {
  exit: "baton emit exit '<json>'",
  result: 'baton result submit FILE',
  handoff: 'baton handoff send FILE',
  thought_record: 'baton thought record FILE',
} as const satisfies Record<Requirement, string>;
