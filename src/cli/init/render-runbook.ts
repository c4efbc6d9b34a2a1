import type { AgentChoice } from './agents.ts';
import type { Check, ProjectFindings } from './detect/project.ts';

export interface RunbookSettings extends Pick<ProjectFindings, 'checks' | 'install' | 'build'> {
  readonly agent: AgentChoice;
  readonly branch: string;
}

/** Renders a complete `baton.toml`, with a comment for each value. */
export function renderRunbook(settings: RunbookSettings): string {
  const sections = [
    HEAD,
    renderChecks(settings.checks),
    renderMerge(settings.branch),
    renderWorkflow(settings),
    ACCESS,
    renderLimits(settings.agent),
    renderAgents(settings.agent),
  ];
  return `${sections.join('\n\n')}\n`;
}

const HEAD = `# The runbook of this repository: who works here, what must pass before a merge, what agents may use.
# Written by \`baton init\`. After an edit: baton runbook check. All fields: baton docs runbooks.

# A session ends with a signal that says what it completed. Without one, its stop is blocked.
exit_protocol = true`;

function renderChecks(checks: readonly Check[]): string {
  if (checks.length === 0)
    return `# What must pass before a merge: nothing, so the reviewer decides alone. To require a command, replace this by:
#   [[ci.required]]
#   name = "test"
#   run = "make test"
[ci]
required = []`;
  const intro = `# What must pass before a merge. The checks run in this order, in a clean checkout of the commit,
# and again on the merged result before the main branch moves.`;
  return [intro, ...checks.map(renderCheck)].join('\n').replace(`${intro}\n\n`, `${intro}\n`);
}

function renderCheck({ name, run, from, isOnline }: Check): string {
  const source = from === null ? 'named by you' : `found in ${from.replaceAll(/\p{C}/gu, '?')}`;
  const lines = [
    '',
    '[[ci.required]]',
    `name = ${quoted(name)}`,
    `run = ${quoted(run)}  # ${source}`,
    ...(isOnline ? ['network = "dev"  # this check downloads; without this line a check has no network'] : []),
    'timeout = "15m"  # a check that takes longer fails',
  ];
  return lines.join('\n');
}

function renderMerge(branch: string): string {
  return `# How finished work reaches the main branch.
[merge]
into = ${literal(branch)}  # the main branch of this repository
method = "squash"  # one commit for each task; or "merge", "rebase"`;
}

function renderWorkflow({ install, build }: RunbookSettings): string {
  return [
    '# From a request to a merge: baton run issue "TITLE"',
    '[workflow]',
    'mode = "autonomous"  # Baton asks you only if it must; "semi": also before work, review, fixes and merge; "supervised": at every stage',
    ...(install === null ? [] : [`install = ${quoted(install)}  # prepares the worktree of a new task`]),
    ...(build === null
      ? []
      : [`build = ${quoted(build)}  # runs after install, so that the agent starts from a working build`]),
  ].join('\n');
}

const ACCESS = `# What agents and checks can touch: their worktree, their own client's login, and what is listed here.
[sandbox]
mode = "auto"  # the strongest sandbox that works here (see: baton doctor); "none" turns it off
memory = "8GB"  # for one session

# The hosts that agents can reach. A check reaches none unless its entry above sets network.
[network]
policy = "dev"  # APIs of the clients, public registries, git remotes; or "full", "model" (only the API), "none", a list`;

const BUDGETS: Readonly<Record<AgentChoice['budget'], readonly [task: string, day: string]>> = {
  cost: ['cost = "$20", time = "8h"', 'cost = "$100"'],
  tokens: ['tokens = 20000000, time = "8h"', 'tokens = 100000000'],
  time: ['time = "8h"', 'time = "48h"'],
};

function renderLimits({ title, budget }: AgentChoice): string {
  const [task, day] = BUDGETS[budget];
  const unit = {
    cost: '',
    tokens: `\n# ${title} reports tokens without prices; with [prices] you can set dollars instead.`,
    time: `\n# ${title} reports no usage, so only time can be limited.`,
  }[budget];
  return `# Limits. When a budget is used up, Baton asks you before agents continue.${unit}
[limits]
task_budget = { ${task} }  # all sessions of one task
day_budget = { ${day} }  # all agents of the project in a day (UTC)
review_rounds = 3  # how often work can go back to the fixer before Baton asks you
agents = 8  # at most this many run at once`;
}

const ROLES: readonly (readonly [name: string, about: string, timeout: string])[] = [
  ['issue-manager', 'Writes the issue: what will be different, as requirements that a test could check.', '30m'],
  ['implementer', 'Does the work on a branch of its own, in a worktree of its own.', '2h'],
  [
    'reviewer',
    'Approves the work, or lists what must change. A different client than the implementer’s finds other mistakes.',
    '1h',
  ],
  ['fixer', 'Fixes what the checks or the reviewer found.', '2h'],
];

function renderAgents(agent: AgentChoice): string {
  const isScripted = agent.run === 'scripted';
  const folder = isScripted ? 'scripted' : 'prompts';
  const ending = isScripted ? 'yaml' : 'md';
  const roles = ROLES.map(
    ([name, about, timeout]) => `
# ${about}
[agents.${name}]
run = ${quoted(agent.run)}
prompt_file = "baton:${folder}/${name}.${ending}"
timeout = "${timeout}"`,
  );
  return [isScripted ? SCRIPTED_INTRO : AGENTS_INTRO, ...roles].join('\n');
}

const AGENTS_INTRO = `# Who plays the roles. \`run\` names the client: baton agent clients. A prompt with \`baton:\` comes with Baton;
# for your own, name a file of this repository. A session that takes longer than \`timeout\` fails.`;

const SCRIPTED_INTRO = `# Who plays the roles. These are scripts: they add a line to a file in baton-scripted and merge it, without a model.
# For real work install a client, such as Claude Code, and set in each role (ROLE is its name):
#   run = "claude"
#   prompt_file = "baton:prompts/ROLE.md"
# A session that takes longer than \`timeout\` fails.`;

/** Quotes a command, in which `${` would start a template. */
function quoted(command: string): string {
  return literal(command.replaceAll('${', () => '$${'));
}

/** Quotes a TOML string. Unlike JSON, TOML also refuses a raw U+007F. */
function literal(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007f`);
}
