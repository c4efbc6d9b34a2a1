import { readCommandArgs } from '../command-args.ts';
import type { Subject } from '../subject.ts';

/** The arguments of a command can be read. */
export function checkCommands(subject: Subject): void {
  for (const [name, { args }] of Object.entries(subject.value.commands ?? {})) {
    const read = readCommandArgs(args ?? '');
    if ('what' in read) subject.report('runbook/invalid-args', ['commands', name, 'args'], read.what, read.hint);
  }
}
