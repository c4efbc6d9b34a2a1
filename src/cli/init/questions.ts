import { type AgentChoice, findChoice, type InstalledAgent, SCRIPTED } from './agents.ts';
import type { Check, ProjectFindings } from './detect/project.ts';

/** Returns undefined if the person cancelled with Ctrl-C or Ctrl-D. */
export type AskLine = (question: string) => Promise<string | undefined>;

/** The clients to choose from, the recommended one first. */
export function offeredAgents(installed: readonly InstalledAgent[]): readonly [AgentChoice, ...AgentChoice[]] {
  const [first, ...rest] = installed;
  if (first !== undefined) return [first, ...rest];
  const claude = findChoice('claude');
  return [SCRIPTED, ...(claude === undefined ? [] : [claude])];
}

/** Asks only if there is a choice. Enter takes the first one. */
export async function askAgent(
  installed: readonly InstalledAgent[],
  ask: AskLine,
  print: (text: string) => void,
): Promise<AgentChoice | undefined> {
  const offered = offeredAgents(installed);
  if (offered.length === 1) return offered[0];
  const isNone = installed.length === 0;
  print(isNone ? '\nNo client of an agent is installed. Who plays the roles?\n' : '\nWhich client plays the roles?\n');
  const lines = offered.map(
    (agent, i) => `  ${i + 1}. ${describeOffer(agent, isNone)}${i === 0 ? ' (recommended)' : ''}`,
  );
  print(`${lines.join('\n')}\n`);
  for (;;) {
    const line = (await ask(`1 to ${offered.length} [1]: `))?.trim();
    if (line === undefined) return undefined;
    const chosen = offered.find(({ run }) => run === line) ?? offered[line === '' ? 0 : Number(line) - 1];
    if (chosen !== undefined) return chosen;
    print(`Type a number from 1 to ${offered.length}, or a name from the list.\n`);
  }
}

function describeOffer({ run, title }: AgentChoice, isNone: boolean): string {
  if (run === SCRIPTED.run) return 'scripted: scripts that come with Baton, to try it without a model';
  return isNone ? `${run}: ${title}, which you install later` : `${run}: ${title}`;
}

/** Asks only if no check was found. Enter means none. Undefined if the person cancelled. */
export async function askCheck(ask: AskLine): Promise<string | undefined> {
  return ask('\nNo test command was found. Which command must pass before a merge? [none]: ');
}

/**
 * Turns a command that a person named into checks. It runs in a clean checkout, so the packages are installed first.
 */
export function checksFrom(command: string, { install }: Pick<ProjectFindings, 'install'>): readonly Check[] {
  const run = command.trim();
  if (run === '') return [];
  const packages = install === null ? [] : [{ name: 'install', run: install, from: null, isOnline: true }];
  return [...packages, { name: 'test', run, from: null, isOnline: false }];
}
