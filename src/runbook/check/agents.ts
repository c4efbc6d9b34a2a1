import { inheritedFields } from '../build/built-in-agents.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { didYouMean } from '../../protocol/shape/suggest.ts';
import { quote } from '../../protocol/shape/quote.ts';
import type { RunbookSubject } from './subject.ts';

/** The roles that Baton plays itself. */
export const BUILT_IN_ROLES = ['prep', 'validator', 'closer'] as const;

/** What an agent runs, and what it is told, can be meant. */
export function checkAgents(subject: RunbookSubject): void {
  for (const [name, { run, prompt, prompt_file, cwd }] of Object.entries(subject.value.agents ?? {})) {
    const path = ['agents', name] as const;
    if (prompt !== undefined && prompt_file !== undefined) {
      const message = `agent ${name} has both prompt and prompt_file`;
      const at = subject.placeOfName([...path, 'prompt_file']);
      subject.report('runbook/prompt-twice', [...path, 'prompt_file'], message, 'Keep one of the two.', at);
    }
    checkRun(subject, name);
    const builtIn = /^builtin:(.*)$/.exec(run ?? '')?.[1];
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

/** What an agent does not set comes from the built-in agent of its name; without one it must say what runs, and what a model is asked. */
function checkRun(subject: RunbookSubject, name: string): void {
  const { run, prompt, prompt_file } = subject.value.agents?.[name] ?? {};
  const inherited = inheritedFields(name, {});
  const path = ['agents', name] as const;
  if (run === undefined && inherited.run === undefined) {
    const hint = 'Add `run`: claude, codex, gemini, scripted FILE, or a command for the shell.';
    subject.report('missing-field', path, `Missing required field: agents.${name}.run`, hint);
    return;
  }
  if (!isModelClient(run ?? inherited.run)) return;
  const isBlank = prompt?.trim() === '' && prompt_file === undefined;
  const hasAny = prompt !== undefined || prompt_file !== undefined || inherited.prompt_file !== undefined;
  if (hasAny && !isBlank) return;
  const message = `agent ${name} runs ${run ?? inherited.run ?? ''} and has no prompt`;
  subject.report(
    'runbook/no-prompt',
    isBlank ? [...path, 'prompt'] : run === undefined ? path : [...path, 'run'],
    message,
    'Set `prompt`, or `prompt_file` with the path of a file.',
  );
}

/** Whether it waits for a first message: without one it would do nothing, for ever. */
export function isModelClient(run: string | undefined): boolean {
  return MODEL_CLIENTS.has(run ?? '');
}

const MODEL_CLIENTS: ReadonlySet<string> = new Set(['claude', 'codex', 'gemini']);
