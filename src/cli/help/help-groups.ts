/** The groups of `baton --help`. `baton help NAME` lists one of them in full. */
export interface HelpGroup {
  /** As typed after `baton help`. No command has this name. */
  readonly name: string;
  readonly title: string;
  /**
   * Commands, or first words of commands. The longest match counts, so that commands with one first word can be in
   * different groups.
   */
  readonly commands: readonly string[];
}

export const HELP_GROUPS: readonly HelpGroup[] = [
  {
    name: 'start',
    title: 'Start (set Baton up)',
    commands: ['init', 'demo', 'doctor', 'docs', 'up', 'down', 'runbook', 'hooks', 'host', 'completion'],
  },
  {
    name: 'work',
    title: 'Work (tasks and runs)',
    commands: ['run', 'task', 'pipeline', 'wait', 'merge', 'worktree', 'reconcile'],
  },
  {
    name: 'people',
    title: 'People (what needs you)',
    commands: ['status', 'decision', 'ack', 'web', 'project', 'costs', 'metrics'],
  },
  {
    name: 'agents',
    title: 'Agents (see and steer them)',
    commands: ['agent', 'acp'],
  },
  {
    name: 'record',
    title: 'Record (what happened, and its proof)',
    commands: ['ledger', 'verify', 'handoff', 'thought', 'store'],
  },
  {
    name: 'session',
    title: 'Session (for agents and their clients)',
    commands: [
      'task claim',
      'task heartbeat',
      'task release',
      'task update',
      'task complete',
      'mission',
      'thought record',
      'thought template',
      'result',
      'handoff send',
      'handoff template',
      'emit',
      'validate',
      'schema',
      'mcp',
      'hooks run',
      'agent hook',
      'agent play',
    ],
  },
];

export function findHelpGroup(name: string): HelpGroup | undefined {
  return HELP_GROUPS.find((group) => group.name === name);
}

/** The commands of a group, in the group's order. */
export function commandsOf<C extends { readonly name: string }>(group: HelpGroup, commands: readonly C[]): C[] {
  return commands
    .flatMap((command) => {
      const place = placeOf(command.name);
      return place?.group === group ? [{ command, index: place.index }] : [];
    })
    .toSorted((a, b) => a.index - b.index)
    .map(({ command }) => command);
}

/** The group with the longest matching prefix of a command. */
function placeOf(command: string): { readonly group: HelpGroup; readonly index: number } | undefined {
  return HELP_GROUPS.flatMap((group) =>
    group.commands.flatMap((prefix, index) =>
      command === prefix || command.startsWith(`${prefix} `) ? [{ group, index, length: prefix.length }] : [],
    ),
  ).toSorted((a, b) => b.length - a.length)[0];
}
