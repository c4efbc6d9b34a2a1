import type { ListedCommand } from './command.ts';

/** What is said under a claim, and what is handed on. */
export const HANDOVER_COMMANDS: readonly ListedCommand[] = [
  {
    name: 'thought record',
    summary: 'Record what was done; no task is completed without a record',
    load: async () => (await import('./thought.ts')).thoughtRecord,
  },
  {
    name: 'thought list',
    summary: 'List the thought records of a task, newest first',
    load: async () => (await import('./thought.ts')).thoughtList,
  },
  {
    name: 'mission show',
    summary: 'Show what your session is asked to do',
    load: async () => (await import('./session.ts')).missionShow,
  },
  {
    name: 'result submit',
    summary: 'Submit the result of your mission; the newest counts',
    load: async () => (await import('./session.ts')).resultSubmit,
  },
  {
    name: 'handoff send',
    summary: 'Send a handoff; it takes effect when your session ends',
    load: async () => (await import('./session.ts')).handoffSend,
  },
  {
    name: 'emit exit',
    summary: 'End your session with an exit signal',
    load: async () => (await import('./emit.ts')).emitExit,
  },
  {
    name: 'emit agent:signal',
    summary: 'Signal that your run is complete, escalates or continues',
    load: async () => (await import('./emit.ts')).emitAgentSignal,
  },
  {
    name: 'emit agent:idle',
    summary: 'Report that an agent waits for input',
    load: async () => (await import('./emit.ts')).emitAgentIdle,
  },
  {
    name: 'emit agent:stop',
    summary: 'Report that an agent tried to stop without a signal',
    load: async () => (await import('./emit.ts')).emitAgentStop,
  },
  {
    name: 'handoff list',
    summary: 'List the handoffs, oldest first',
    load: async () => (await import('./handoff.ts')).handoffList,
  },
  {
    name: 'handoff show',
    summary: 'Show one handoff as it was sent',
    load: async () => (await import('./handoff.ts')).handoffShow,
  },
  {
    name: 'merge',
    summary: 'Merge a task that is ready',
    load: async () => (await import('./merge.ts')).merge,
  },
];
