import { parseArgsDefinition } from '../command-args.ts';
import type { RunbookSubject } from './subject.ts';

/** The arguments of a command can be read. */
export function checkCommands(subject: RunbookSubject): void {
  for (const [name, { args }] of Object.entries(subject.value.commands ?? {})) {
    const read = parseArgsDefinition(args ?? '');
    if ('what' in read) subject.report('runbook/invalid-args', ['commands', name, 'args'], read.what, read.hint);
  }
}
