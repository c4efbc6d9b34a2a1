import { shellWord } from '../../../protocol/text/quote-for-shell.ts';
import type { SteerStep } from './steering.ts';

export interface StepWords {
  readonly label: string;
  /** The effect of the step, in one sentence. */
  readonly about: string;
  /** The label of its field. */
  readonly field: string;
  readonly isNeeded: boolean;
  readonly confirm: string;
  readonly tone?: 'danger';
}

export const STEP_WORDS: Readonly<Record<Exclude<SteerStep['does'], 'attach'>, StepWords>> = {
  message: {
    label: 'Nudge',
    about: 'The agent gets the message in its conversation.',
    field: 'Message to the agent',
    isNeeded: true,
    confirm: 'Send the message',
  },
  note: {
    label: 'Leave a note',
    about: 'No agent works on the task now: the next session reads the note.',
    field: 'Note',
    isNeeded: true,
    confirm: 'Leave the note',
  },
  answer: {
    label: 'Answer and resume',
    about: 'The agent waits for a person. The message answers its question, and the agent continues.',
    field: 'Message to the agent',
    isNeeded: true,
    confirm: 'Send and resume',
  },
  resume: {
    label: 'Resume',
    about: 'The pipeline continues where it waits; its agent is woken in the same conversation.',
    field: 'Message to the agent (optional)',
    isNeeded: false,
    confirm: 'Resume the pipeline',
  },
  retry: {
    label: 'Retry',
    about: 'The step at which the pipeline waits starts again.',
    field: '',
    isNeeded: false,
    confirm: 'Retry the step',
  },
  run_again: {
    label: 'Retry',
    about: 'The pipeline runs again from its first step, as a new run.',
    field: '',
    isNeeded: false,
    confirm: 'Run the pipeline again',
  },
  unblock: {
    label: 'Unblock',
    about: 'The task returns to the phase that was blocked.',
    field: 'Reason',
    isNeeded: true,
    confirm: 'Unblock the task',
  },
  reinstate: {
    label: 'Reinstate',
    about: 'The task goes back to IMPLEMENTATION, and the work is done again.',
    field: 'Reason',
    isNeeded: true,
    confirm: 'Reinstate the task',
  },
  stop: {
    label: 'Stop the agent',
    about: 'The agent and every process that it started end.',
    field: 'Reason',
    isNeeded: true,
    confirm: 'Stop the agent now',
    tone: 'danger',
  },
  cancel: {
    label: 'Cancel',
    about: 'Its sessions end, and its open decisions are withdrawn.',
    field: 'Reason',
    isNeeded: true,
    confirm: 'Cancel now',
    tone: 'danger',
  },
};

/** The equivalent command of the CLI. */
export function commandOf({ does, on: { kind, id } }: SteerStep, text: string): string {
  const [own, said] = [shellWord(id), shellWord(text === '' ? 'TEXT' : text)];
  switch (does) {
    case 'message':
    case 'answer':
      return `baton agent send ${own} ${said}`;
    case 'note':
      return `baton task note ${own} ${said}`;
    case 'stop':
      return `baton agent kill ${own} --reason ${said}`;
    case 'attach':
      return `baton agent attach ${own}`;
    case 'resume':
      return `baton pipeline resume ${own}${text === '' ? '' : ` -m ${said}`}`;
    case 'retry':
    case 'run_again':
      return `baton pipeline retry ${own}`;
    case 'cancel':
      return kind === 'task'
        ? `baton task cancel ${own} --reason ${said}`
        : `baton pipeline cancel ${own} --reason ${said}`;
    case 'unblock':
      return `baton task unblock ${own} --reason ${said}`;
    case 'reinstate':
      return `baton task reinstate ${own} --reason ${said}`;
  }
}
