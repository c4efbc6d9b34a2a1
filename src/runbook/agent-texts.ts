import { HANDLER_NAMES, type AgentPlan, type HandlerPlan } from '../protocol/run-plan.ts';
import { slotsOf } from '../protocol/text/render-template.ts';
import { parseTemplate } from '../protocol/text/template.ts';
import type { Path } from './check/subject.ts';

/** A text in which templates are filled in. */
export interface TemplateText {
  readonly text: string;
  readonly path: Path;
  readonly isShell: boolean;
  /** It gets into the ledger as it is filled in, so the environment has no place in it. */
  readonly isRecorded: boolean;
}

/** `scripted FILE` names a file, not a command. */
const CLIENT = /^(?:claude|codex|gemini|scripted(?:\s.*)?|builtin:.*)$/s;

/** A command for the shell, where it is not the name of something that Baton knows how to start. */
export function isShellAgent({ run }: Pick<AgentPlan, 'run'>): boolean {
  return !CLIENT.test(run);
}

/** Every text of an agent that may hold templates, with the way to it inside the agent. */
export function templateTextsOf(agent: AgentPlan): TemplateText[] {
  const { run, prompt, prompt_file, cwd, model, env = {} } = agent;
  const plain = Object.entries({ prompt, prompt_file, cwd, model }).map(([field, text]) =>
    templateTextAt(text, [field]),
  );
  return [
    templateTextAt(run, ['run'], { isShell: isShellAgent(agent) }),
    ...plain,
    ...Object.entries(env).map(([name, text]) => templateTextAt(text, ['env', name])),
    ...handlersOfPlan(agent).flatMap(({ handler, path }) => [
      templateTextAt(handler.message, [...path, 'message'], { isRecorded: true }),
      templateTextAt(handler.run, [...path, 'run'], { isShell: true }),
    ]),
  ].filter((text) => text !== undefined);
}

export function templateTextAt(
  text: string | undefined,
  path: Path,
  { isShell = false, isRecorded = false }: { isShell?: boolean; isRecorded?: boolean } = {},
): TemplateText | undefined {
  return text === undefined ? undefined : { text, path, isShell, isRecorded };
}

interface PlacedHandler {
  readonly handler: HandlerPlan;
  readonly path: Path;
}

function handlersOfPlan(agent: AgentPlan): PlacedHandler[] {
  return HANDLER_NAMES.flatMap((name): PlacedHandler[] => {
    if (name !== 'on_error') return agent[name] === undefined ? [] : [{ handler: agent[name], path: [name] }];
    return Object.entries(agent.on_error ?? {}).map(([kind, handler]) => ({ handler, path: [name, kind] }));
  });
}

/** The variables without which the agent cannot be started. */
export function requiredVariables(agent: AgentPlan): string[] {
  const slots = templateTextsOf(agent).flatMap(({ text }) => slotsOf(parseTemplate(text)));
  return slots.flatMap(({ name, fallback }) => (name.of === 'var' && fallback === null ? [name.name] : []));
}
