import type { ListedCommand } from './command.ts';

/** What is said under a claim, and what is handed on. */
export const HANDOVER_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'thought record',
    summary: 'Record what was done; no task is completed without a record',
    load: async () => (await import('./thought.ts')).thoughtRecordCommand,
  },
  {
    name: 'thought list',
    summary: 'List the thought records of a task, newest first',
    load: async () => (await import('./thought.ts')).thoughtListCommand,
  },
  {
    name: 'mission show',
    summary: 'Show what your session is asked to do',
    load: async () => (await import('./session.ts')).missionShowCommand,
  },
  {
    name: 'result submit',
    summary: 'Submit the result of your mission; the newest counts',
    load: async () => (await import('./session.ts')).resultSubmitCommand,
  },
  {
    name: 'handoff send',
    summary: 'Send a handoff; it takes effect when your session ends',
    load: async () => (await import('./session.ts')).handoffSendCommand,
  },
  {
    name: 'emit exit',
    summary: 'End your session with an exit signal',
    load: async () => (await import('./emit.ts')).emitExitCommand,
  },
  {
    name: 'emit agent:signal',
    summary: 'Signal that your run is complete, escalates or continues',
    load: async () => (await import('./emit.ts')).emitAgentSignalCommand,
  },
  {
    name: 'emit agent:idle',
    summary: 'Report that an agent waits for input',
    load: async () => (await import('./emit.ts')).emitAgentIdleCommand,
  },
  {
    name: 'emit agent:stop',
    summary: 'Report that an agent tried to stop without a signal',
    load: async () => (await import('./emit.ts')).emitAgentStopCommand,
  },
  {
    name: 'handoff list',
    summary: 'List the handoffs, oldest first',
    load: async () => (await import('./handoff.ts')).handoffListCommand,
  },
  {
    name: 'handoff show',
    summary: 'Show one handoff as it was sent',
    load: async () => (await import('./handoff.ts')).handoffShowCommand,
  },
  {
    name: 'merge',
    summary: 'Merge a task that is ready',
    load: async () => (await import('./merge.ts')).mergeCommand,
  },
];
