import { isRelativePath } from '../../protocol/text-format.ts';
import { didYouMean } from '../../protocol/suggest.ts';
import { quote } from '../../protocol/quote.ts';
import type { Subject } from '../subject.ts';

/** The roles that Baton plays itself. */
export const BUILT_IN_ROLES = ['prep', 'validator', 'closer'] as const;

/** What an agent runs, and what it is told, can be meant. */
export function checkAgents(subject: Subject): void {
  for (const [name, { run, prompt, prompt_file, cwd }] of Object.entries(subject.value.agents ?? {})) {
    const path = ['agents', name] as const;
    if (prompt !== undefined && prompt_file !== undefined) {
      const message = `agent ${name} has both prompt and prompt_file`;
      const at = subject.placeOfName([...path, 'prompt_file']);
      subject.report('runbook/prompt-twice', [...path, 'prompt_file'], message, 'Keep one of the two.', at);
    }
    const builtIn = /^builtin:(.*)$/.exec(run)?.[1];
    if (builtIn !== undefined && !BUILT_IN_ROLES.some((role) => role === builtIn)) {
      const others = `There are: ${BUILT_IN_ROLES.map((role) => `builtin:${role}`).join(', ')}.`;
      const message = `nothing is built in for ${quote(builtIn)}`;
      subject.report(
        'runbook/unknown-builtin',
        [...path, 'run'],
        message,
        didYouMean(builtIn, BUILT_IN_ROLES) ?? others,
      );
    }
    for (const [field, value] of Object.entries({ prompt_file, cwd })) {
      // Where a template is filled in, the path is only known when it is.
      if (value === undefined || value.includes('${') || isRelativePath(value)) continue;
      const message = `${field} of agent ${name} must be relative to the project, and stay in it: ${quote(value)}`;
      subject.report('invalid-value', [...path, field], message, 'Write it as seen from the root of the repository.');
    }
  }
}
