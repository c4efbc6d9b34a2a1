import { userInfo } from 'node:os';
import type { Claim } from '../../api/operations/tasks.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { createObserver } from '../ask.ts';
import type { Io, ParsedArguments } from '../command.ts';
import { operationCommand, pickOptions, SELF_APPROVE_OPTION, selfApprovalCall } from '../operation-command.ts';
import { printable } from '../text.ts';
import { MAX_WAIT_MS } from '../operation-input.ts';
import { whyNobodyClaims } from './describe-task.ts';
import { noteUnknownRole } from './note-role.ts';

export const taskClaimCommand = operationCommand({
  examples: [
    'baton task claim P0.1.1 --as ada',
    'export BATON_TOKEN=$(baton task claim --as ada --wait --json | jq -r .token)',
  ],
  args: [{ name: 'ID', about: 'The task', optional: true }],
  options: [
    {
      name: 'as',
      value: 'NAME',
      about: 'A name that people recognise, by default your user name; your token decides your rights',
    },
    { name: 'role', value: 'ROLE', about: 'Your role; without it you cannot send handoffs' },
    { name: 'wait', about: 'Wait until the task, or any task, can be claimed' },
    {
      name: 'worktree',
      about: 'Create a git worktree for the task; git refuses commits there after the claim is lost',
    },
    SELF_APPROVE_OPTION,
  ],
  before: (given) => selfApprovalCall(given.args[0], given),
  operation: 'task_claim',
  json: [{ result: 'task_claim' }, { when: '--worktree', result: ['task_claim', 'task_worktree'] }],
  input: async (given, io) => {
    const [task_id] = given.args;
    await noteUnknownRole(given, io);
    const wait = given.options.has('wait') ? { wait_ms: MAX_WAIT_MS } : {};
    const fields = { as: userName(), ...pickOptions(given, { as: 'as', role: 'role' }), ...wait };
    return { value: task_id === undefined ? fields : { task_id, ...fields } };
  },
  meanwhile: (given, io) => {
    const [id] = given.args;
    return id !== undefined && given.options.has('wait') ? reportBlockers(id, given, io) : undefined;
  },
  also: ({ task_id, token }, { options }) => {
    if (!options.has('worktree')) return undefined;
    const input = { task_id, reason: 'no worktree could be made' };
    return { operation: 'task_worktree', token, undo: { operation: 'task_release', input } };
  },
  show: ({ task_id, epoch, token, expires_at, next_role: next, path }: Claim & { readonly path?: string }) => {
    const next_role = next === undefined ? undefined : printable(next);
    const worktree = path === undefined ? '' : `cd ${shellWord(printable(path))}\n`;
    // A comment, because a shell may run this output.
    const role =
      next_role === undefined
        ? ''
        : `# The task waits for the role ${next_role}. Without --role ${next_role} you can work on it, but not send a handoff.\n`;
    return `Claimed ${printable(task_id)}, epoch ${epoch}, until ${expires_at}.\n${role}export BATON_TOKEN=${token}\n${worktree}`;
  },
});

/** A user without an entry in /etc/passwd has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'operator';
  }
}

export const taskHeartbeatCommand = operationCommand({
  examples: ['baton task heartbeat P0.1.1'],
  args: [{ name: 'ID', about: 'The task' }],
  operation: 'task_heartbeat',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: ({ expires_at }) => `Renewed until ${expires_at}.\n`,
});

export const taskReleaseCommand = operationCommand({
  examples: ['baton task release P0.1.1 --reason "needs a person who knows the parser"'],
  args: [{ name: 'ID', about: 'The task' }],
  options: [{ name: 'reason', value: 'TEXT', about: 'The reason, for the next holder' }],
  operation: 'task_release',
  input: (given) => ({ value: { task_id: given.args[0], ...pickOptions(given, { reason: 'reason' }) } }),
  show: ({ task_id }) => `Released ${printable(task_id)}.\n`,
});

/** Prints why the task cannot be claimed yet, unless the claim succeeds at once. */
export function reportBlockers(taskId: string, given: ParsedArguments, io: Io): Disposable {
  const over = new AbortController();
  const timer = setTimeout(() => {
    void (async () => {
      using client = createObserver(given, io);
      const answer = await client.call('task_get', { task_id: taskId }, { signal: over.signal });
      const why = answer.ok && !over.signal.aborted ? whyNobodyClaims(answer.result) : undefined;
      if (why !== undefined) io.err(`Waiting: ${why}\n`);
    })();
  }, AT_ONCE_MS);
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      over.abort();
    },
  };
}

const AT_ONCE_MS = 500;
