import type { OperationName } from './registry.ts';

/** How a CLI command calls an operation. A hint that names the command can thus name the tool instead. */
export interface CliCall {
  readonly operation: OperationName;
  /** The field of each argument, in order. Null for a file or a message: its fields are separate inputs of the tool. */
  readonly args?: readonly (string | null)[];
  /**
   * The field of each option. A command line with any other option has no tool, because that option is for operators.
   */
  readonly options?: Readonly<Record<string, string>>;
  /** Fields that the command sets itself. */
  readonly fields?: Readonly<Record<string, string>>;
}

/**
 * Every CLI command, by name, that calls an operation with a tool. The tests compare it with the commands' own files.
 */
export const CLI_CALLS: Readonly<Record<string, CliCall>> = {
  'task add': { operation: 'task_create', args: ['task_id'], options: { title: 'title', role: 'role' } },
  'task list': { operation: 'task_list', options: { status: 'status', limit: 'limit' } },
  'task show': { operation: 'task_get', args: ['task_id'] },
  'task next': { operation: 'task_next_actions', options: { role: 'role' } },
  'task brief': { operation: 'task_brief', args: ['task_id'] },
  'task check': { operation: 'task_check' },
  'task claim': { operation: 'task_claim', args: ['task_id'], options: { as: 'as', role: 'role' } },
  'task heartbeat': { operation: 'task_heartbeat', args: ['task_id'] },
  'task release': { operation: 'task_release', args: ['task_id'], options: { reason: 'reason' } },
  'task update': { operation: 'task_update', args: ['task_id'], options: { status: 'status', notes: 'notes' } },
  'task complete': { operation: 'task_complete', args: ['task_id', null] },
  'thought record': { operation: 'thought_record', args: [null] },
  'thought template': { operation: 'form_get', args: ['task_id'], fields: { kind: 'record' } },
  'mission show': { operation: 'mission_get' },
  'result submit': { operation: 'result_submit', args: [null] },
  'result template': { operation: 'form_get', args: ['task_id'], fields: { kind: 'result' } },
  'handoff send': { operation: 'handoff_send', args: [null] },
  'handoff template': { operation: 'form_get', args: ['to'], fields: { kind: 'handoff' } },
  'emit exit': { operation: 'exit_signal', args: [null] },
  'emit agent:signal': { operation: 'agent_signal', args: [null], options: { agent: 'agent_id' } },
  'host list': { operation: 'fleet_show' },
  merge: { operation: 'merge_request', args: ['task_id'] },
};
