import { describe, expect, it } from 'vitest';
import { textPositionAt } from '../protocol/shape/problem.ts';
import { checkRunbook } from './check/check-runbook.ts';
import { WRITTEN } from './render.cases.ts';

/** Marks the position of the expected problem: before a name or a value. */
const HERE = '‸';

const shell = (run: string): object => ({ pipelines: { p: { steps: [{ name: 'a', run }] } } });
const steps = (...list: readonly object[]): object => ({ pipelines: { p: { steps: list } } });
const agent = (fields: object): object => ({ agents: { a: { run: './agent', ...fields } } });
const long = 'x'.repeat(61_000);
const ENV_PASS_HINT =
  'Correct the value. Meaning of the field: Variables of the daemon that pass in addition to the default list: names, or prefixes as in "PREFIX_*".';

const CASES: readonly (readonly [what: string, code: string, message: string, hint: string, tree: object])[] = [
  ['an unknown section', 'unknown-field', 'Unknown field: agent', 'Did you mean `agents`?', { '‸agent': {} }],
  [
    'a store without the name of the project',
    'runbook/store-without-project',
    '`store` needs the name of the project',
    'Write `project = "NAME"` above it. A project with a ledger keeps the id that `baton store status` shows.',
    { store: '‸postgres://localhost/baton' },
  ],
  [
    'a store with a password',
    'invalid-value',
    'the URL of the store contains a password',
    'Remove it from the URL. Give it to the daemon in PGPASSWORD, or in the file that PGPASSFILE names (~/.pgpass).',
    { project: 'shop', store: '‸postgres://baton:secret@localhost/baton' },
  ],
  [
    'a name of a project that cannot be one',
    'invalid-value',
    'Invalid project: My Shop (expected lower-case letters, digits and -, at most 63, the first a letter or a digit)',
    'Correct the value. Meaning of the field: The name of the project, the same on every host; left out: made from the path of the repository.',
    { project: '‸My Shop', store: 'postgres://localhost/baton' },
  ],
  [
    'an unknown key of an agent',
    'unknown-field',
    'Unknown field: agents.a.promt',
    'Did you mean `prompt`?',
    agent({ '‸promt': 'x' }),
  ],
  [
    'an unknown key of a step',
    'unknown-field',
    'Unknown field: pipelines.p.steps[0].on_failure',
    'Remove it; the fields here are: name, run, on_done, on_fail, on_cancel, timeout, workspace, notify.',
    steps({ name: 'a', run: 'true', '‸on_failure': 'a' }),
  ],
  [
    'an unknown key of a handler',
    'unknown-field',
    'Unknown field: agents.a.on_idle.atempts',
    'Did you mean `attempts`?',
    agent({ on_idle: { action: 'nudge', '‸atempts': 2 } }),
  ],
  [
    'an action that the handler does not allow',
    'invalid-value',
    'Invalid agents.a.on_stop: nudge (expected: signal, idle, escalate)',
    'Correct the value. Meaning of the field: When the agent tries to end its turn: signal, idle, escalate.',
    agent({ on_stop: '‸nudge' }),
  ],
  [
    'a workflow that a worker cannot make of a task',
    'invalid-value',
    'Invalid workers.w.run.workflow: release (expected: issue)',
    'Correct the value. Meaning of the field: The built-in workflow, as of `baton run issue`.',
    { workers: { w: { run: { workflow: '‸release' } } } },
  ],
  [
    'a worker that makes workflows of tasks that are workflows',
    'runbook/meaningless-option',
    'worker w makes workflows, but takes only tasks of workflows',
    'Remove `workflow`: this worker takes tasks that are in no workflow.',
    { workers: { w: { '‸workflow': true, run: { workflow: 'issue' } } } },
  ],
  [
    'a worker that makes workflows of tasks that are checked or judged',
    'runbook/meaningless-option',
    'worker w makes workflows, and a workflow does not begin in REVIEW',
    'A workflow begins in DRAFT or IMPLEMENTATION.',
    { workers: { w: { phases: ['DRAFT', '‸REVIEW'], run: { workflow: 'issue' } } } },
  ],
  [
    'a duration without a unit',
    'invalid-value',
    'Invalid agents.a.timeout: 10 (expected a duration such as 500ms, 10s, 5m, 2h or 1d)',
    'Correct the value. Meaning of the field: How long a run may take, as in "2h".',
    agent({ timeout: '‸10' }),
  ],
  [
    'a cost that is not money',
    'invalid-value',
    'Invalid agents.a.budget.cost: 2.50 EUR (expected dollars such as $2.50, and more than nothing)',
    'Correct the value. Meaning of the field: Money, as in "$2.50".',
    agent({ budget: { cost: '‸2.50 EUR' } }),
  ],
  [
    'a cost of nothing, which nobody could raise',
    'invalid-value',
    'Invalid limits.day_budget.cost: $0.00 (expected dollars such as $2.50, and more than nothing)',
    'Correct the value. Meaning of the field: Money, as in "$2.50".',
    { limits: { day_budget: { cost: '‸$0.00' } } },
  ],
  [
    'an ACP agent without a prompt',
    'runbook/no-prompt',
    'agent a runs opencode and has no prompt',
    'Set `prompt`, or `prompt_file` with the path of a file.',
    agent({ run: '‸opencode' }),
  ],
  [
    'an ACP agent without a command',
    'missing-field',
    'agent a names no command after `acp:`',
    'Write the command after it, as in: run = "acp:my-agent --acp".',
    agent({ run: '‸acp:', prompt: 'x' }),
  ],
  [
    'settings of ACP for another client',
    'runbook/not-acp',
    'agent a is not an ACP agent, but has `acp`',
    'Remove it, or set `run` to an ACP agent: opencode, copilot, qwen, cline, auggie, grok, claude-acp, codex-acp, gemini-acp, or acp:COMMAND.',
    agent({ run: 'claude', prompt: 'x', '‸acp': { files: false } }),
  ],
  [
    'a token budget of a client that reports no tokens',
    'runbook/unmetered-budget',
    'agent a runs cline, which reports no usage: a budget of tokens limits nothing',
    'Remove this budget, and set `timeout` or `budget.time`.',
    agent({ run: 'cline', prompt: 'x', budget: { '‸tokens': 1000, time: '1h' } }),
  ],
  [
    'a cost budget of a client that reports no tokens',
    'runbook/unmetered-budget',
    'agent a runs auggie, which reports no usage: a budget of cost limits nothing',
    'Remove this budget, and set `timeout` or `budget.time`.',
    agent({ run: 'auggie', prompt: 'x', budget: { '‸cost': '$2' } }),
  ],
  [
    'a budget that limits nothing',
    'runbook/empty-budget',
    'agents.a.budget limits nothing',
    'Give it tokens = 200000, cost = "$2.50" or time = "2h".',
    agent({ '‸budget': {} }),
  ],
  [
    'a price that is not money',
    'invalid-value',
    'Invalid prices.gpt-5.input: free (expected dollars such as $2.50)',
    'Correct the value. Meaning of the field: A million input tokens, as in "$3".',
    { prices: { 'gpt-5': { input: '‸free', output: '$1' } } },
  ],
  [
    'a name with a space',
    'invalid-value',
    'Invalid name: my agent (expected a letter, then letters, digits, _ and -, at most 64)',
    'Choose another name.',
    { agents: { '‸my agent': { run: './agent' } } },
  ],
  [
    'an environment variable that belongs to Baton',
    'invalid-value',
    'Invalid name: BATON_TOKEN (expected letters, digits and _, not beginning with BATON_)',
    'Choose another name.',
    agent({ env: { '‸BATON_TOKEN': 'x' } }),
  ],
  [
    'a list of variables with what is no name',
    'invalid-value',
    'Invalid env_pass[0]: 9* (expected a variable or a prefix such as PREFIX_*, not beginning with BATON_)',
    ENV_PASS_HINT,
    { env_pass: ['‸9*'] },
  ],
  [
    "a list of variables with the daemon's own",
    'invalid-value',
    'Invalid agents.a.env_pass[1]: BATON_* (expected a variable or a prefix such as PREFIX_*, not beginning with BATON_)',
    ENV_PASS_HINT,
    agent({ env_pass: ['NPM_TOKEN', '‸BATON_*'] }),
  ],
  [
    "a template with one of the daemon's own variables",
    'runbook/unknown-name-in-template',
    "the daemon's own variables are not allowed in a template: ${env.BATON_GITHUB_WEBHOOK_SECRET}",
    'They are settings and secrets of the daemon. A command reads those of its session by itself: $BATON_PORT.',
    agent({ prompt: 'Use ‸${env.BATON_GITHUB_WEBHOOK_SECRET}.' }),
  ],
  [
    'an agent that is not there',
    'runbook/unknown-agent',
    'there is no agent bulder',
    'Did you mean `builder`?',
    { agents: { builder: { run: './agent' } }, ...steps({ name: 'a', run: { agent: '‸bulder' } }) },
  ],
  [
    'a pipeline that is not there',
    'runbook/unknown-pipeline',
    'there is no pipeline deploy',
    'There are none.',
    { commands: { c: { run: { pipeline: '‸deploy' } } } },
  ],
  [
    'a next step that is not there',
    'runbook/unknown-step',
    'pipeline p has no step tset',
    'Did you mean `test`?',
    steps({ name: 'build', run: 'true', on_done: '‸tset' }, { name: 'test', run: 'true', on_done: 'build' }),
  ],
  [
    'a step for failures that is not there',
    'runbook/unknown-step',
    'pipeline p has no step fixx',
    'There are: a.',
    steps({ name: 'a', run: 'true', on_fail: { step: '‸fixx', retries: 2 } }),
  ],
  [
    'a step for cancellations that is not there',
    'runbook/unknown-step',
    'pipeline p has no step b',
    'Did you mean `a`?',
    steps({ name: 'a', run: 'true', on_cancel: '‸b' }),
  ],
  [
    'a step that nothing leads to',
    'runbook/unreachable-step',
    'no step of pipeline p leads to b',
    'Name it in on_done, on_fail or on_cancel of another step, or remove it.',
    steps({ name: 'a', run: 'true', on_done: 'a' }, { name: '‸b', run: 'true' }),
  ],
  [
    'steps in a circle that nothing leads out of',
    'runbook/endless-steps',
    'pipeline p never ends: b → c → b',
    'Let a step of the loop lead out of it, to the last one.',
    steps(
      { name: 'a', run: 'true' },
      { name: 'b', run: 'true', on_fail: 'a' },
      { name: 'c', run: 'true', on_done: '‸b' },
    ),
  ],
  [
    'a step that leads to itself',
    'runbook/endless-steps',
    'pipeline p never ends: a → a',
    'Let a step of the loop lead out of it, to the last one.',
    steps({ name: 'a', run: 'true', on_done: '‸a' }),
  ],
  [
    'a role that is not there',
    'runbook/unknown-role',
    'there is no role implementor',
    'Did you mean `implementer`?',
    agent({ role: '‸implementor' }),
  ],
  [
    'a role by the name of its agent',
    'runbook/unknown-role',
    'there is no role reviewer-agent',
    'The role is called `reviewer`.',
    { workers: { w: { roles: ['‸reviewer-agent'], run: 'true' } } },
  ],
  [
    'an unknown built-in role',
    'runbook/unknown-builtin',
    'there is no built-in role preb',
    'Did you mean `prep`?',
    { agents: { a: { run: '‸builtin:preb' } } },
  ],
  [
    'two prompts',
    'runbook/prompt-twice',
    'agent a has both prompt and prompt_file',
    'Keep one of the two.',
    agent({ prompt: 'x', '‸prompt_file': 'y.md' }),
  ],
  [
    'a prompt file outside the project',
    'invalid-value',
    'prompt_file of agent a must be relative to the project, and stay in it: ../secret',
    'Write it as seen from the root of the repository.',
    agent({ prompt_file: '‸../secret' }),
  ],
  [
    'a model client without a prompt',
    'runbook/no-prompt',
    'agent a runs codex and has no prompt',
    'Set `prompt`, or `prompt_file` with the path of a file.',
    { agents: { a: { run: '‸codex' } } },
  ],
  [
    'a model client with a blank prompt',
    'runbook/no-prompt',
    'agent a runs claude and has no prompt',
    'Set `prompt`, or `prompt_file` with the path of a file.',
    { agents: { a: { run: 'claude', prompt: '‸ \t ' } } },
  ],
  [
    'a built-in role played by a model client without a prompt',
    'runbook/no-prompt',
    'agent prep runs gemini and has no prompt',
    'Set `prompt`, or `prompt_file` with the path of a file.',
    { agents: { prep: { run: '‸gemini' } } },
  ],
  [
    'a gate without a command',
    'runbook/gate-without-run',
    'on_idle: a gate needs a command',
    'Say what it runs: { action = "gate", run = "npm test" }.',
    agent({ on_idle: '‸gate' }),
  ],
  [
    'an option that has no effect for the action',
    'runbook/meaningless-option',
    'on_dead: message has no effect for the action done',
    'done has no options.',
    agent({ on_dead: { action: 'done', '‸message': 'x' } }),
  ],
  [
    'an option that has no effect for the action of one error',
    'runbook/meaningless-option',
    'on_error: run has no effect for the action wait',
    'wait has: message, attempts, cooldown.',
    agent({ on_error: { rate_limited: { action: 'wait', '‸run': 'x' } } }),
  ],
  [
    'a pause between tries that there are not',
    'runbook/meaningless-option',
    'on_fail: cooldown has no effect without retries',
    'Add `retries`, or remove it.',
    steps({ name: 'a', run: 'true', on_fail: { '‸cooldown': '5s' } }),
  ],
  [
    'a pipeline that runs itself',
    'runbook/endless-nesting',
    'pipelines run each other endlessly: p → p',
    'Break the loop: use `on_done` to go back to a step.',
    steps({ name: 'a', run: { pipeline: '‸p' } }),
  ],
  [
    'pipelines that run each other',
    'runbook/endless-nesting',
    'pipelines run each other endlessly: p → q → p',
    'Break the loop: use `on_done` to go back to a step.',
    {
      pipelines: {
        p: { steps: [{ name: 'a', run: { pipeline: 'q' } }] },
        q: { steps: [{ name: 'a', run: { pipeline: '‸p' } }] },
      },
    },
  ],
  [
    'a variable that nobody declared',
    'runbook/unknown-variable',
    'unknown variable: ${var.tilte}',
    'Did you mean `title`?',
    { pipelines: { p: { vars: ['title'], steps: [{ name: 'a', run: 'echo ‸${var.tilte}' }] } } },
  ],
  [
    'a variable in a prompt, on its own line',
    'runbook/unknown-variable',
    'unknown variable: ${var.body} (pipeline p runs agent a)',
    'There are: title.',
    {
      agents: { a: { run: 'claude', prompt: 'Do this:\n${var.title}\nand ‸${var.body}\n' } },
      pipelines: { p: { vars: { title: '' }, steps: [{ name: 'a', run: { agent: 'a' } }] } },
    },
  ],
  [
    'a variable of an agent that nothing runs',
    'runbook/unknown-variable',
    'unknown variable: ${var.x} (no caller of agent a sets it)',
    'There are no variables: declare it.',
    agent({ prompt: 'Do ‸${var.x}' }),
  ],
  [
    'a template in a default',
    'invalid-template',
    'a default is not rendered as a template: from ${env.BASE}',
    'Use the template where the variable is used: `${var.NAME:-default}`, or give the value where the pipeline is run.',
    { pipelines: { p: { vars: { base: '‸from ${env.BASE}' }, steps: [{ name: 'a', run: 'true' }] } } },
  ],
  [
    'a source of values that is not there',
    'invalid-template',
    'unknown name: ${vars.x}',
    'Did you mean `var`?',
    shell('echo ‸${vars.x}'),
  ],
  [
    "the shell's own variable",
    'invalid-template',
    'unknown name: ${HOME}',
    "There are `var`, `task`, `step` and `env`, as in `${var.NAME}`. For the shell's own variable write `$HOME` or `$${HOME}`.",
    shell('echo ‸${HOME}'),
  ],
  [
    'a field of a task that is not there',
    'invalid-template',
    'unknown field of a task: ${task.titel}',
    'Did you mean `title`?',
    shell('echo ‸${task.titel}'),
  ],
  [
    'a field of a step that is not there',
    'invalid-template',
    'unknown field of a step: ${step.a.exitcode}',
    'Did you mean `exit_code`?',
    shell('echo ‸${step.a.exitcode}'),
  ],
  [
    'the output of a step that is not there',
    'runbook/unknown-step',
    'unknown step: ${step.b.output}',
    'Did you mean `a`?',
    shell('echo ‸${step.b.output}'),
  ],
  [
    'a template without end',
    'invalid-template',
    'template without end: ${var.x',
    'Close it with `}`; write `$${` for a plain `${`.',
    shell('echo ‸${var.x'),
  ],
  [
    'a template in single quotes',
    'invalid-template',
    'template in single quotes: ${env.X}',
    'The shell expands nothing there: use double quotes, or none.',
    shell("echo '‸${env.X}'"),
  ],
  [
    'a template in an arithmetic expression',
    'invalid-template',
    'template in an arithmetic expression: ${env.X}',
    'Some shells run commands inside it: assign the value to a variable, check that it is a number, and use the variable.',
    shell('echo $((1 + ‸${env.X}))'),
  ],
  [
    'the environment where it would be recorded',
    'runbook/unknown-name-in-template',
    'the environment is not allowed here: ${env.USER}',
    'It would be written into the ledger. Use it in a command, a prompt or `env`.',
    steps({ name: 'a', run: 'true', workspace: { branch: 'work/‸${env.USER}' } }),
  ],
  [
    'a task where there is none',
    'runbook/unknown-name-in-template',
    'command c has no task: ${task.id}',
    'In a command there are: var, env.',
    { commands: { c: { run: 'echo ‸${task.id}' } } },
  ],
  [
    'a variable that the pipeline does not have',
    'runbook/unknown-variable',
    'pipeline p has no variable titel',
    'Did you mean `title`?',
    {
      pipelines: {
        p: { vars: { title: '' }, steps: [{ name: 'a', run: 'true' }] },
        q: { steps: [{ name: 'a', run: { pipeline: 'p', vars: { titel: '‸x' } } }] },
      },
    },
  ],
  [
    'a variable that must be given and is not',
    'runbook/missing-variable',
    'pipeline p needs the variable title',
    'Give it: { pipeline = "p", vars = { title = "…" } }.',
    {
      pipelines: { p: { vars: ['title'], steps: [{ name: 'a', run: 'true' }] } },
      workers: { w: { run: { pipeline: '‸p' } } },
    },
  ],
  [
    'arguments that cannot be read',
    'runbook/invalid-args',
    'not an argument: <a',
    'Arguments are `<name>`, `[name]`, `--flag`, `--option <value>` and `[--option <value>]`.',
    { commands: { c: { args: '‸<a', run: 'true' } } },
  ],
  [
    'a role whose name is taken',
    'handoff/bad-declaration',
    'Name is already taken: reviewer',
    'Choose another name.',
    { roles: { add: [{ '‸name': 'reviewer', agent: 'second-reviewer' }] } },
  ],
  [
    'a way to an agent that is not there',
    'handoff/bad-declaration',
    'Unknown agent: security',
    'Declare it in `roles`, or choose one of: issue-manager, prep-agent, implementer-agent, ci-gate, reviewer-agent, fixer-agent, validator-agent, closer-agent.',
    { roles: { edges: [{ from: 'implementer-agent', to: '‸security', phase: 'REVIEW' }] } },
  ],
  [
    'a claim that would end before it is renewed',
    'invalid-value',
    'a claim must live for at least two renewals',
    'Make `claim_expiry` longer, or `renewal` shorter.',
    { limits: { claim_expiry: '‸30s' } },
  ],
  [
    'a branch template that does not tell tasks apart',
    'invalid-value',
    'branch template without the id of the task: work/${task.slug}',
    'Each task has a branch of its own: put `${task.id}` into it, or `${task.n}`.',
    { workspace: { branch: '‸work/${task.slug}' } },
  ],
  [
    'a branch template that git would not take',
    'invalid-value',
    'branch template gives an invalid branch name: not a branch name: my work/t001',
    'See `git check-ref-format`: no spaces, no `..`, no `~^:?*[\\`, nothing that ends in `.lock` or begins with `refs/`.',
    { workspace: { branch: '‸my work/${task.id}' } },
  ],
  [
    'a branch template that names the ref instead of the branch',
    'invalid-value',
    'branch template gives an invalid branch name: not a branch name: refs/heads/t001',
    'See `git check-ref-format`: no spaces, no `..`, no `~^:?*[\\`, nothing that ends in `.lock` or begins with `refs/`.',
    { workspace: { branch: '‸refs/heads/${task.id}' } },
  ],
  [
    'a branch template that git would not take for some titles',
    'invalid-value',
    'branch template gives an invalid branch name: not a branch name: work//t001',
    '`${task.slug}` is empty for some titles: give it a default, `${task.slug:-task}`.',
    { workspace: { branch: '‸work/${task.slug}/${task.id}' } },
  ],
  [
    'a branch template that gets too long',
    'invalid-value',
    `branch template gives an invalid branch name: longer than 240 characters: ${'w'.repeat(180)}/${'t'.repeat(19)}…`,
    'Make it shorter: an id may have 64 characters, and a slug 40.',
    { workspace: { branch: `‸${'w'.repeat(180)}/\${task.id}` } },
  ],
  [
    'a branch named after what changes',
    'runbook/unknown-name-in-template',
    'a branch name cannot contain ${task.phase}',
    'The name of a branch never changes, so it can contain only id, n, slug, epic_id, prd_id.',
    { workspace: { branch: 'work/${task.id}-‸${task.phase}' } },
  ],
  [
    'a branch named after a field that no task has',
    'invalid-template',
    'unknown field of a task: ${task.idd}',
    'Did you mean `id`?',
    { workspace: { branch: 'work/‸${task.idd}' } },
  ],
  [
    'a branch named after a variable',
    'runbook/unknown-name-in-template',
    'branch template has no var: ${var.name}',
    'In a branch there are: task.',
    { workspace: { branch: 'work/${task.id}-‸${var.name}' } },
  ],
  [
    'a check twice',
    'runbook/defined-twice',
    'check twice: test',
    'Keep one.',
    { ci: { required: [{ name: 'test' }, { name: '‸test' }] } },
  ],
  [
    'a sandbox that there is not',
    'invalid-value',
    'Invalid sandbox: bubblewarp (expected: auto, bubblewrap, container, user, sandbox-exec, none)',
    'Did you mean `bubblewrap`?',
    { sandbox: '‸bubblewarp' },
  ],
  [
    'a size without a unit',
    'invalid-value',
    'Invalid agents.a.sandbox.memory: 8G (expected a size such as 512MB, 8GB or 1TB)',
    'Correct the value. Meaning of the field: How much memory a session may use; default: 8GB.',
    agent({ sandbox: { memory: '‸8G' } }),
  ],
  [
    'a path of another user',
    'invalid-value',
    'Invalid sandbox.read[0]: ~bob/x (expected an absolute path, one that begins with ~/, or one below the project)',
    'Correct the value. Meaning of the field: Paths that a session may read in addition to the table in docs/security.md.',
    { sandbox: { read: ['‸~bob/x'] } },
  ],
  [
    'a path that leads up',
    'invalid-value',
    'a path must not contain ..: a/../b',
    'Write the path that is meant.',
    { sandbox: { hide: ['‸a/../b'] } },
  ],
  [
    'the whole disk',
    'invalid-value',
    'the path covers too much: /',
    'Name the folders in it that are needed.',
    { sandbox: { write: ['‸/'] } },
  ],
  [
    'a path in two lists',
    'runbook/defined-twice',
    '~/.ssh is in read and in hide',
    'Keep one.',
    agent({ sandbox: { read: ['~/.ssh'], hide: ['‸~/.ssh'] } }),
  ],
  [
    'an option of no sandbox',
    'runbook/meaningless-option',
    'nested has no effect for the sandbox none',
    'The mode none has no options.',
    agent({ sandbox: { mode: 'none', '‸nested': true } }),
  ],
  [
    'an image for another sandbox than a container',
    'runbook/meaningless-option',
    'image has no effect for the sandbox bubblewrap',
    'Only the mode container uses an image.',
    { sandbox: { mode: 'bubblewrap', '‸image': 'debian' } },
  ],
  [
    'a network policy that there is not',
    'invalid-value',
    'Invalid agents.a.network: open (expected: full, dev, model, none)',
    'Correct the value. Meaning of the field: The network of sessions: full, dev, model, none, a list of hosts, or a table. Default: dev.',
    agent({ network: '‸open' }),
  ],
  [
    'an address where a host must be',
    'invalid-value',
    'Invalid network.policy[1]: https://example.com/x (expected a host such as example.com, *.example.com, example.com:8443 or 192.0.2.7:443, without scheme and path)',
    'Correct the value. Meaning of the field: The hosts that sessions can reach: full, dev (APIs, registries, git remotes), model (the API of the client), none, or a list.',
    { network: { policy: ['example.com', '‸https://example.com/x'] } },
  ],
  [
    'a host with a port that there is not',
    'invalid-value',
    '70000 is not a port: example.com:70000',
    'A port is at most 65535.',
    agent({ network: ['‸example.com:70000'] }),
  ],
  [
    'the machine itself as a host',
    'invalid-value',
    'inside a sandbox 127.0.0.1:5432 is the session itself',
    'Name the port of this machine: network.local = [5432].',
    { network: { checks: ['‸127.0.0.1:5432'] } },
  ],
  [
    'cloud metadata as a host',
    'invalid-value',
    'cloud metadata is never reachable: 169.254.169.254',
    'Remove it; pass what the session needs in `env`.',
    { ci: { required: [{ name: 'test', network: ['‸169.254.169.254'] }] } },
  ],
  [
    'a check with the network of a model',
    'invalid-value',
    "ci.required[0]: invalid network 'model'",
    'Correct the value. Meaning of the field: The hosts that the check can reach: full, dev, none, or a list.',
    { ci: { required: [{ name: 'test', network: '‸model' }] } },
  ],
  [
    'a policy for installing in an agent',
    'unknown-field',
    'Unknown field: agents.a.network.install',
    'Remove it; the fields here are: policy, hosts, local.',
    agent({ network: { policy: 'none', '‸install': 'full' } }),
  ],
  [
    'a network that the sandbox cannot limit',
    'runbook/unenforced-network',
    'the sandbox none cannot limit the network to model',
    'Use the sandbox auto, bubblewrap or container, or set network = "full" here.',
    { network: 'model', agents: { a: { run: './agent', sandbox: '‸none' } } },
  ],
  [
    'a secret that cannot be injected',
    'runbook/unknown-secret',
    'ANTROPIC_API_KEY cannot be injected',
    'Did you mean `ANTHROPIC_API_KEY`?',
    { secrets: { '‸ANTROPIC_API_KEY': { env: 'MY_KEY', inject: 'header' } } },
  ],
  [
    'an injected secret that passes as well',
    'runbook/secret-passed',
    'MY_KEY is an injected secret, and this would reveal it',
    'Remove it: the secret is injected.',
    { env_pass: ['‸MY_*'], secrets: { OPENAI_API_KEY: { env: 'MY_KEY', inject: 'header' } } },
  ],
  [
    'an injected secret in a command',
    'runbook/secret-passed',
    'MY_KEY is an injected secret, and this would reveal it: ${env.MY_KEY}',
    'Remove it: the secret is injected.',
    { ...shell('curl -H ‸${env.MY_KEY} x'), secrets: { OPENAI_API_KEY: { env: 'MY_KEY', inject: 'header' } } },
  ],
  [
    'an injected secret without a sandbox',
    'runbook/secret-passed',
    'agent a has no sandbox, so that a session could read the secret GEMINI_API_KEY',
    'Use another sandbox, or take the secret out of `secrets`.',
    {
      secrets: { GEMINI_API_KEY: { env: 'GEMINI_API_KEY', inject: 'header' } },
      agents: { a: { run: 'gemini', prompt: 'x', sandbox: '‸none' } },
    },
  ],
  [
    'a plan that no entry can hold',
    'runbook/plan-too-large',
    'the plan of a is too large to be recorded: 61094 bytes > 60000 bytes maximum',
    'Move long prompts into files and name them in `prompt_file`.',
    { agents: { '‸a': { run: 'claude', prompt: long } } },
  ],
];

describe.each(WRITTEN)('in $syntax', ({ file, render }) => {
  it.each(CASES)('%s is found', (_, code, message, hint, tree) => {
    const marked = render(tree);
    const at = marked.indexOf(HERE);
    const text = marked.replace(HERE, '');
    // A quoted name or value begins with its quote.
    const start = /["']/.test(text[at - 1] ?? '') && !text.startsWith('${', at) ? at - 1 : at;
    const checked = checkRunbook([{ path: file, text }]);
    const found = checked.ok ? [] : checked.problems.map((each) => ({ ...each, path: '' }));
    expect(found).toEqual([
      { code, message, path: '', ...textPositionAt(text, placeOfItem(text, start, code)), hint, file },
    ]);
  });
});

/**
 * The place of a problem with an item. A role that exists already is a problem of the whole item, which in YAML starts
 * at its first name.
 */
function placeOfItem(text: string, at: number, code: string): number {
  if (code !== 'handoff/bad-declaration' || !text.startsWith('name', at + (text[at] === '"' ? 1 : 0))) return at;
  if (text.includes('[[')) return text.indexOf('[[');
  return text.trimStart().startsWith('{') ? text.lastIndexOf('{') : at;
}

it('a list of variables that would pass everything is refused', () => {
  const checked = checkRunbook([{ path: 'baton.toml', text: 'env_pass = ["*"]\n' }]);
  expect(checked).toMatchObject({ ok: false, problems: [{ code: 'invalid-value', line: 1, column: 13 }] });
});
