import { describe, expect, it } from 'vitest';
import { checkRunbook } from '../check/check-runbook.ts';
import type { SandboxKind } from '../../protocol/sandbox.ts';
import { compareRules as compareOn, hasLoosening, type Occasion, type RuleDifference } from './compare-rules.ts';
import { describeLoosening } from './describe-difference.ts';
import { gateFieldsOf, type GateFields } from './gate-fields.ts';
import type { RuleFiles, Texts } from './rule-files.ts';

const BASE = `
[ci]
required = [{ name = "test", run = "npm test", timeout = "10m" }, { name = "lint", run = "npm run lint" }]
protected = ["ci/**"]

[merge]
method = "squash"
into = "main"

[workflow]
mode = "semi"
validate = [{ name = "coverage", run = "npm run coverage" }]

[limits]
review_rounds = 3
max_files = 40
no_new_deps = true
task_budget = { tokens = 1000000, cost = "$5" }

[agents.judge]
run = "claude"
role = "reviewer"
prompt_file = "prompts/judge.md"
requires = ["result", "handoff", "exit"]
env = { LEVEL = "strict" }
budget = { tokens = 50000 }
timeout = "1h"

[agents.maker]
run = "codex"
role = "implementer"
prompt = "Make it."
requires = ["result", "thought_record", "handoff", "exit"]

[workers.reviewers]
roles = ["reviewer"]
workflow = true
run = { agent = "judge" }

[workers.implementers]
roles = ["implementer"]
workflow = true
concurrency = 2
run = { agent = "maker" }
`;

const PROMPTS = { 'prompts/judge.md': 'Be strict.' };

function fieldsOf(text: string, prompts: Texts = PROMPTS, more: { path: string; text: string }[] = []): GateFields {
  const checked = checkRunbook([{ path: 'baton.toml', text }, ...more]);
  if (!checked.ok) throw new Error(checked.problems.map(({ message }) => message).join('\n'));
  return gateFieldsOf(checked.value, { prompts, devcontainer: {} });
}

/** On a machine on which bubblewrap works. */
function compareRules(before: GateFields, after: GateFields, occasion?: Occasion): readonly RuleDifference[] {
  return compareOn(before, after, 'bubblewrap', occasion);
}

function edited(from: string, to: string): string {
  if (!BASE.includes(from)) throw new Error(`not in the runbook: ${from}`);
  return BASE.replace(from, to);
}

/** Each difference as `field effect`. */
function compare(text: string, prompts?: Texts, more?: { path: string; text: string }[]): string[] {
  return compareRules(fieldsOf(BASE), fieldsOf(text, prompts, more)).map(({ field, effect }) => `${field} ${effect}`);
}

describe('changes that loosen the rules', () => {
  it.each<[string, string, string, string]>([
    ['a check is removed', ', { name = "lint", run = "npm run lint" }', '', 'ci.required loosens'],
    ['a check runs something else', 'run = "npm test"', 'run = "true"', 'ci.required.test loosens'],
    ['a check is left to others to report', 'name = "lint", run = "npm run lint"', 'name = "lint"', 'ci.required.lint loosens'],
    ['a check is renamed', 'name = "test"', 'name = "tests"', 'ci.required.test loosens'],
    ['a check has no timeout any more', ', timeout = "10m"', '', 'ci.required.test.timeout loosens'],
    ['a check may take longer', 'timeout = "10m"', 'timeout = "11m"', 'ci.required.test.timeout loosens'],
    [
      'a new check runs before the others and can change what they see',
      'required = [',
      'required = [{ name = "clean", run = "rm -r test" }, ',
      'ci.required loosens',
    ],
    ['a path is not protected any more', 'protected = ["ci/**"]', 'protected = []', 'ci.protected loosens'],
    ['a built-in protection is taken away', '["ci/**"]', '["ci/**", "!Makefile"]', 'ci.protected loosens'],
    ['merging goes into another branch', 'into = "main"', 'into = "play"', 'merge.into loosens'],
    ['merging uses another method', 'method = "squash"', 'method = "rebase"', 'merge.method loosens'],
    ['there is no merge gate any more', '[merge]\nmethod = "squash"\ninto = "main"', '', 'merge.required loosens'],
    ['nobody looks at it', 'mode = "semi"', 'mode = "autonomous"', 'workflow.mode loosens'],
    ['the validator checks something else', 'npm run coverage', 'true', 'workflow.validate.coverage loosens'],
    ['there may be more rounds', 'review_rounds = 3', 'review_rounds = 4', 'limits.review_rounds loosens'],
    ['a skipped report counts', 'run = "npm run lint"', 'run = "npm run lint", allow = ["skipped"]', 'ci.required.lint loosens'],
    ['sessions may create more tasks', '[limits]', '[limits]\ntasks = { number = 11 }', 'limits.tasks.number loosens'],
    ['sessions may create deeper tasks', '[limits]', '[limits]\ntasks = { depth = 3 }', 'limits.tasks.depth loosens'],
    ['any number of files may change', 'max_files = 40', '', 'limits.max_files loosens'],
    ['dependencies may be added', 'no_new_deps = true', 'no_new_deps = false', 'limits.no_new_deps loosens'],
    ['a task may cost more', 'cost = "$5"', 'cost = "$6"', 'limits.task_budget.cost_millicents loosens'],
    ['a task may cost anything', ', cost = "$5"', '', 'limits.task_budget.cost_millicents loosens'],
    ['an agent may use more', 'budget = { tokens = 50000 }', '', 'agents.judge.budget.tokens loosens'],
    ['an agent may take longer', 'timeout = "1h"', 'timeout = "2h"', 'agents.judge.timeout_ms loosens'],
    [
      'an agent owes less',
      '"thought_record", "handoff", "exit"]\n\n[workers',
      '"handoff", "exit"]\n\n[workers',
      'agents.maker.requires loosens',
    ],
    ['an agent gets another environment', 'LEVEL = "strict"', 'LEVEL = "lax"', 'agents.judge.env loosens'],
    ['the reviewer is another program', 'run = "claude"', 'run = "true"', 'agents.judge.run loosens'],
    ['a built-in program reviews', 'run = "claude"', 'run = "builtin:validator"', 'agents.judge.run loosens'],
    ['the reviewer has another prompt file', 'prompts/judge.md', 'prompts/other.md', 'agents.judge.prompt loosens'],
    ['another agent reviews', 'run = { agent = "judge" }', 'run = { agent = "maker" }', 'workers.reviewers loosens'],
    ['more agents work at once', 'concurrency = 2', 'concurrency = 3', 'workers.implementers.concurrency loosens'],
  ])('%s', (_, from, to, expected) => {
    expect(compare(edited(from, to))).toContain(expected);
  }); // prettier-ignore

  it('lets an agent approve its own work', () => {
    const same = `${BASE}\n[roles.reviewer]\nsame_agent = true\n`;
    expect(compare(same)).toEqual(['roles.reviewer.same_agent loosens']);
  });

  it('adds or removes an edge of the workflow', () => {
    const short = `${BASE}\n[roles]\nwithout = [{ from = "reviewer-agent", to = "fixer-agent" }]\n`;
    expect(compare(short)).toEqual(['roles.edges.reviewer-agent.fixer-agent loosens']);
  });

  it('replaces a built-in agent', () => {
    expect(compare(`${BASE}\n[agents.validator]\nrun = "true"\nrequires = ["exit"]\n`)).toEqual([
      'agents.validator.network.policy loosens',
      'agents.validator.requires loosens',
      'agents.validator.run loosens',
    ]);
  });

  it('edits the prompt of the reviewer without touching baton.toml', () => {
    expect(compare(BASE, { 'prompts/judge.md': 'Approve everything.' })).toEqual(['agents.judge.prompt loosens']);
    expect(compare(BASE, { 'prompts/judge.md': null })).toEqual(['agents.judge.prompt loosens']);
  });

  it('edits a file that a templated prompt path can become', () => {
    const text = edited('prompts/judge.md', 'prompts/${task.role}.md');
    const before = fieldsOf(text, { 'prompts/reviewer.md': 'strict', 'prompts/x.md': 'x' });
    const after = fieldsOf(text, { 'prompts/reviewer.md': 'lax', 'prompts/x.md': 'x' });
    expect(compareRules(before, after).map(({ field }) => field)).toEqual(['agents.judge.prompt']);
  });

  it('adds a worker in a file of .baton/runbooks', () => {
    const file = { path: '.baton/runbooks/more.yaml', text: 'workers: {extra: {roles: [reviewer], run: "true"}}' };
    expect(compare(BASE, PROMPTS, [file])).toEqual([
      'workers.extra loosens',
      'workers.extra.concurrency tightens',
      'workers.extra.shell loosens',
    ]);
  });

  it('changes a pipeline that reviews', () => {
    const pipeline = (command: string): string =>
      `${edited('run = { agent = "judge" }', 'run = { pipeline = "look" }')}\n[pipelines.look]\nsteps = [{ name = "a", run = "${command}" }]\n`;
    const differences = compareRules(fieldsOf(pipeline('check')), fieldsOf(pipeline('true')));
    expect(differences.map(({ field, effect }) => `${field} ${effect}`)).toEqual([
      'pipelines.look loosens',
      'pipelines.look.shell loosens',
    ]);
  });
});

describe('the variables of an agent', () => {
  const helper = (env: string, rules = ''): GateFields =>
    fieldsOf(`${rules}\n[agents.helper]\nrun = "claude"\nprompt = "x"\n${env === '' ? '' : `env = { ${env} }`}\n`);
  const effects = (before: GateFields, after: GateFields): string[] =>
    compareRules(before, after).map(({ field, effect }) => `${field} ${effect}`);

  it.each([
    'ANTHROPIC_BASE_URL = "https://example.com"',
    'CLAUDE_CODE_USE_FOUNDRY = "1", ANTHROPIC_FOUNDRY_RESOURCE = "other"',
    'CLAUDE_CONFIG_DIR = "/srv/other"',
    'HOME = "/srv/other"',
    'CARGO_HOME = "/home/ada/.ssh"',
    'XDG_CONFIG_HOME = "/srv/other"',
    'https_proxy = "proxy.example.com:80"',
    'KEY = "${env.SECRET}"',
  ])('need a person if they can change what it reaches: %s', (env) => {
    expect(effects(helper(''), helper(env))).toEqual(['agents.helper.env loosens']);
  });

  it.each(['LEVEL = "debug"', 'CI = "true", LANG = "C.UTF-8", TZ = "Europe/Berlin"', 'ANTHROPIC_MODEL = "small"'])(
    'need nobody otherwise: %s',
    (env) => expect(effects(helper(''), helper(env))).toEqual(['agents.helper.env changes']),
  );

  it('need a person without a sandbox: they name libraries and start files', () => {
    const [before, after] = [helper('', 'sandbox = "none"'), helper('LD_PRELOAD = "x.so"', 'sandbox = "none"')];
    expect(effects(before, after)).toEqual(['agents.helper.env loosens']);
  });
});

it('a new check needs a person without a sandbox, because its command is a program of this user', () => {
  const open = (text: string): GateFields => fieldsOf(`sandbox = "none"\n${text}`);
  const added = open('[[ci.required]]\nname = "test"\nrun = "make"\n');
  const effects = compareRules(open(''), added).map(({ field, effect }) => `${field} ${effect}`);
  expect(effects).toEqual(['ci.required tightens', 'ci.required.test loosens']);
  const reported = open('[[ci.required]]\nname = "test"\n');
  expect(hasLoosening(compareRules(open(''), reported))).toBe(false);
});

it('ignores where work runs and how the project is called', () => {
  const fleet = 'project = "shop"\nstore = "postgres://db/baton"\n';
  const labelled = edited('concurrency = 2', 'concurrency = 2\nlabels = ["gpu"]');
  expect(compare(`${fleet}${labelled}`)).toEqual(['project changes']);
});

describe('changes that tighten the rules', () => {
  it.each<[string, string, string, readonly string[]]>([
    [
      'a check is added after the others',
      '{ name = "lint", run = "npm run lint" }',
      '{ name = "lint", run = "npm run lint" }, { name = "types", run = "tsc" }',
      ['ci.required tightens', 'ci.required.types tightens'],
    ],
    ['a check gets a timeout', 'run = "npm run lint"', 'run = "npm run lint", timeout = "1m"', ['ci.required.lint.timeout tightens']],
    ['a check gets less time', 'timeout = "10m"', 'timeout = "9m"', ['ci.required.test.timeout tightens']],
    ['another path is protected', '["ci/**"]', '["ci/**", "build/**"]', ['ci.protected tightens']],
    ['a person looks at every stage', 'mode = "semi"', 'mode = "supervised"', ['workflow.mode tightens']],
    ['there may be fewer rounds', 'review_rounds = 3', 'review_rounds = 2', ['limits.review_rounds tightens']],
    ['sessions must not commit', '[limits]', '[limits]\nno_git_commit = true', ['limits.no_git_commit tightens']],
    ['a day has a budget', '[limits]', '[limits]\nday_budget = { cost = "$9" }', ['limits.day_budget.cost_millicents tightens']],
    ['an agent owes more', 'requires = ["result", "handoff", "exit"]', 'requires = ["exit", "handoff", "result", "thought_record"]', ['agents.judge.requires tightens']],
    ['an agent has less time', 'timeout = "1h"', 'timeout = "30m"', ['agents.judge.timeout_ms tightens']],
  ])('%s', (_, from, to, expected) => {
    expect(compare(edited(from, to))).toEqual(expected);
  }); // prettier-ignore

  it('merges through Baton from now on', () => {
    const without = fieldsOf(edited('[merge]\nmethod = "squash"\ninto = "main"', ''));
    const withGate = fieldsOf(edited('\ninto = "main"', ''));
    expect(compareRules(without, withGate).map(({ field, effect }) => `${field} ${effect}`)).toEqual([
      'merge.required tightens',
    ]);
  });

  it('does not compensate a difference that loosens', () => {
    const text = edited('review_rounds = 3', 'review_rounds = 2').replace('npm run lint', 'true');
    expect(hasLoosening(compareRules(fieldsOf(BASE), fieldsOf(text)))).toBe(true);
  });
});

/** The differences in access before and after an edit. */
describe('changes of what sessions can access', () => {
  const MAKER = 'run = "codex"';
  const access = (top: string, ofMaker = ''): GateFields =>
    fieldsOf(`${top}\n${edited(MAKER, `${MAKER}\n${ofMaker}`)}`);
  const changes = (before: GateFields, after: GateFields): readonly string[] =>
    compareRules(before, after).map(({ field, effect }) => `${field} ${effect}`);

  it.each<[string, string, string]>([
    ['sandbox = "none"', 'sandbox = "auto"', 'sandbox.mode'],
    ['', 'sandbox = "bubblewrap"', 'sandbox.mode'],
    ['sandbox = "user"', 'sandbox = "container"', 'sandbox.mode'],
    ['sandbox = { read = ["/a", "/b"] }', 'sandbox = { read = ["/b"] }', 'sandbox.read'],
    ['sandbox = { write = ["/a"] }', '', 'sandbox.write'],
    ['', 'sandbox = { hide = ["~/secrets"] }', 'sandbox.hide'],
    ['sandbox = { nested = true }', '', 'sandbox.nested'],
    ['', 'sandbox = { memory = "7GB" }', 'sandbox.memory_bytes'],
    ['', 'sandbox = { processes = 100 }', 'sandbox.processes'],
    ['', 'network = "model"', 'network.policy'],
    ['network = "full"', 'network = "dev"', 'network.policy'],
    ['network = "full"', '', 'network.policy'],
    ['network = { hosts = ["a.org", "b.org"] }', 'network = { hosts = ["a.org"] }', 'network.hosts'],
    ['network = { checks = "dev" }', '', 'network.checks'],
    ['network = ["*.example.com", "b.org"]', 'network = ["a.example.com"]', 'network.policy'],
    ['network = ["b.org"]', 'network = "none"', 'network.policy'],
    ['network = { local = [5432, 6379] }', 'network = { local = [5432] }', 'network.local'],
    ['network = { checks = "full" }', 'network = { checks = ["registry.example.com"] }', 'network.checks'],
  ])('%s becomes %s: %s tightens, and back it loosens', (before, after, field) => {
    const own = (all: readonly string[]): readonly string[] => all.filter((each) => !each.startsWith('agents.'));
    expect(own(changes(access(before), access(after)))).toEqual([`${field} tightens`]);
    expect(own(changes(access(after), access(before)))).toEqual([`${field} loosens`]);
  });

  it.each<[string, string]>([
    ['sandbox = "bubblewrap"', 'sandbox = "container"'],
    ['sandbox = "user"', 'sandbox = "auto"'],
    ['sandbox = { image = "a" }', 'sandbox = { image = "b" }'],
    ['network = "model"', 'network = ["api.example.com"]'],
    ['', 'network = ["registry.npmjs.org"]'],
    ['network = ["example.com"]', ''],
    ['network = ["example.com"]', 'network = ["*.example.com"]'],
    ['', '[secrets]\nOPENAI_API_KEY = { env = "K", inject = "header" }'],
    ['[secrets]\nOPENAI_API_KEY = { env = "K", inject = "header" }', ''],
  ])('%s becomes %s: it loosens', (before, after) => {
    const effects = changes(access(before), access(after)).map((each) => each.split(' ')[1]);
    expect(effects).toEqual(['loosens']);
  });

  it('is compared with the project if an agent or a check sets nothing', () => {
    const all = access('sandbox = "bubblewrap"\nnetwork = "none"');
    const free = access('sandbox = "bubblewrap"\nnetwork = "none"', 'sandbox = "none"\nnetwork = "full"');
    expect(changes(all, free)).toEqual(['agents.maker.network.policy loosens', 'agents.maker.sandbox.mode loosens']);
    expect(changes(free, all)).toEqual(['agents.maker.network.policy tightens', 'agents.maker.sandbox.mode tightens']);
    // An agent that inherits the project's value adds no difference.
    expect(changes(access(''), access('sandbox = "bubblewrap"'))).toEqual(['sandbox.mode tightens']);
    const written = access('', 'sandbox = "auto"\nnetwork = { policy = "dev", local = [] }');
    expect(changes(access(''), written)).toEqual([]);
    const check = edited('run = "npm test"', 'run = "npm test", network = "full"');
    expect(changes(fieldsOf(BASE), fieldsOf(check))).toEqual(['ci.required.test.network loosens']);
    expect(changes(fieldsOf(check), fieldsOf(BASE))).toEqual(['ci.required.test.network tightens']);
  });
});

/** What runs in a sandbox at least as strong may change: its access is compared for itself. */
describe('changes that neither tighten nor loosen', () => {
  it.each<[string, string, string, readonly string[]]>([
    ['the program of an agent that does not judge', 'run = "codex"', 'run = "./mine"', ['agents.maker.run changes']],
    ['its prompt', 'prompt = "Make it."', 'prompt = "Make it well."', ['agents.maker.prompt changes']],
    ['its gate', 'run = "codex"', 'run = "codex"\non_dead = { action = "gate", run = "make" }', ['agents.maker.on_dead changes']],
    ['which messages people get', '[limits]', '[notify]\ndesktop = false\n[limits]', ['notify.desktop changes']],
    ['a command that starts an agent', '[limits]', '[commands.go]\nrun = { agent = "maker" }\n[limits]', ['commands.go changes']],
    ['an agent that no worker starts', '[limits]', '[agents.alone]\nrun = "true"\n[limits]', ['agents.alone.requires changes', 'agents.alone.run changes']],
    ['how a worktree is set up', '[limits]', '[workspace]\nsetup = "npm ci"\n[limits]', ['workspace.setup changes']],
    ['how a task is prepared', 'mode = "semi"', 'mode = "semi"\ninstall = "npm ci"', ['workflow.install changes']],
  ])('%s', (_, from, to, expected) => {
    expect(compare(edited(from, to))).toEqual(expected);
  }); // prettier-ignore

  it('a shell command, a file and an address that are taken away', () => {
    const more =
      '[commands.ship]\nrun = "make ship"\n[workspace]\nlink = [".env"]\n[notify]\nwebhook = "https://x.org"\n';
    const back = compareRules(fieldsOf(`${BASE}${more}`), fieldsOf(BASE));
    expect(hasLoosening(back)).toBe(false);
    expect(hasLoosening(compareRules(fieldsOf(BASE), fieldsOf(`${BASE}${more}`)))).toBe(true);
  });
});

describe('what runs outside of a sandbox, or leaves the machine', () => {
  const OUTSIDE = `sandbox = "none"\n${BASE}`;
  const loosened = (before: string, after: string): readonly string[] =>
    compareRules(fieldsOf(before), fieldsOf(after)).flatMap(({ field, effect }) =>
      effect === 'loosens' ? [field] : [],
    );

  it.each<[string, string, string]>([
    ['the program of an agent', OUTSIDE.replace('run = "codex"', 'run = "./mine"'), 'agents.maker.run'],
    ['its gate', OUTSIDE.replace('run = "codex"', 'run = "codex"\non_dead = { action = "gate", run = "make" }'), 'agents.maker.on_dead'],
    ['how a worktree is set up', `${OUTSIDE}[workspace]\nsetup = "npm ci"\n`, 'workspace.setup'],
  ])('without a sandbox: %s', (_, after, field) => {
    expect(loosened(OUTSIDE, after)).toEqual([field]);
  }); // prettier-ignore

  it.each<[string, string, string]>([
    ['a step of a pipeline', '[pipelines.x]\nsteps = [{ name = "a", run = "id" }]', 'pipelines.x.shell'],
    ['a command', '[commands.x]\nrun = "id"', 'commands.x.shell'],
    ['a worker', '[workers.x]\nrun = "id"', 'workers.x.shell'],
    ['an address for notifications', '[notify]\nwebhook = "https://x.org"', 'notify.webhook'],
    ['an ignored file in each worktree', '[workspace]\ncopy = [".env"]', 'workspace.copy'],
    ['a remote for branches', '[github]\nremote = "other"', 'github.remote'],
    ['a git filter', '[git]\nfilters = ["lfs"]', 'git'],
    ['a variable of the daemon', '[agents.x]\nrun = "true"\nenv = { A = "${env.SECRET}" }', 'agents.x.env'],
    ['variables for an agent', '[agents.x]\nrun = "true"\nenv_pass = ["AWS_*"]', 'agents.x.env_pass'],
  ])('%s', (_, added, field) => {
    expect(loosened(BASE, `${BASE}\n${added}\n`)).toContain(field);
    const first = compareRules(fieldsOf('', {}), fieldsOf(`${added}\n`, {}), 'first');
    expect(first.flatMap(({ field: each, effect }) => (effect === 'loosens' ? [each] : []))).toEqual([field]);
  });
});

describe('what `auto` gives on this machine', () => {
  const loosened = (before: GateFields, after: GateFields, auto: SandboxKind, occasion?: Occasion): readonly string[] =>
    compareOn(before, after, auto, occasion).flatMap(({ field, effect }) => (effect === 'loosens' ? [field] : []));
  const file = 'prompts/maker.md';
  const played = BASE.replace('run = "codex"', 'run = "scripted play.yaml"');
  const told = BASE.replace('prompt = "Make it."', `prompt_file = "${file}"`);
  const texts = (text: string): Texts => ({ ...PROMPTS, [file]: text, 'play.yaml': text });

  it.each<[string, GateFields, GateFields, string]>([
    ['the program of an agent', fieldsOf(BASE), fieldsOf(BASE.replace('run = "codex"', 'run = "./mine"')), 'agents.maker.run'],
    ['its prompt', fieldsOf(BASE), fieldsOf(BASE.replace('Make it.', 'Make it so.')), 'agents.maker.prompt'],
    ['its prompt file', fieldsOf(told, texts('a')), fieldsOf(told, texts('b')), 'agents.maker.prompt'],
    ['its script', fieldsOf(played, texts('a')), fieldsOf(played, texts('b')), 'agents.maker.script'],
    ['how a worktree is set up', fieldsOf(BASE), fieldsOf(`${BASE}[workspace]\nsetup = "npm ci"\n`), 'workspace.setup'],
    ['a check', fieldsOf(''), fieldsOf('[[ci.required]]\nname = "test"\nrun = "make"\n'), 'ci.required.test'],
  ])('none: a person agrees to %s', (_, before, after, field) => {
    expect(loosened(before, after, 'none')).toEqual([field]);
    expect(loosened(before, after, 'bubblewrap')).toEqual([]);
    expect(loosened(before, after, 'user')).toEqual([]);
  }); // prettier-ignore

  it('none: a person agrees to the agents of the first runbook', () => {
    const agents = fieldsOf('[agents.a]\nrun = "claude"\nprompt_file = "prompts/maker.md"\n', texts('a'));
    expect(loosened(fieldsOf(''), agents, 'none', 'first')).toEqual(['agents.a.prompt', 'agents.a.run']);
    expect(loosened(fieldsOf(''), agents, 'bubblewrap', 'first')).toEqual([]);
  });

  it('is not asked where the mode is written', () => {
    const runs = (mode: string, run: string): GateFields =>
      fieldsOf(`sandbox = "${mode}"\n[agents.a]\nrun = "${run}"\n`);
    expect(loosened(runs('bubblewrap', 'x'), runs('bubblewrap', 'y'), 'none')).toEqual([]);
    expect(loosened(runs('none', 'x'), runs('none', 'y'), 'bubblewrap')).toEqual(['agents.a.run']);
  });

  it('a container: a person agrees to the devcontainer, and elsewhere it has no effect', () => {
    const withImage = (files: RuleFiles['devcontainer'], mode = 'auto'): GateFields => {
      const checked = checkRunbook([{ path: 'baton.toml', text: `sandbox = "${mode}"` }]);
      if (!checked.ok) throw new Error(checked.problems[0].message);
      return gateFieldsOf(checked.value, { prompts: {}, devcontainer: files });
    };
    const [one, two] = [{ '.devcontainer.json': '{"image":"a"}' }, { '.devcontainer.json': '{"image":"b"}' }];
    const field = ['sandbox.devcontainer'];
    expect(loosened(withImage({}), withImage(one), 'container', 'first')).toEqual(field);
    expect(loosened(withImage(one), withImage(two), 'container')).toEqual(field);
    expect(loosened(withImage(one), withImage({ ...one, Dockerfile: 'FROM x' }), 'container')).toEqual(field);
    expect(loosened(withImage(one), withImage(two), 'bubblewrap')).toEqual([]);
    expect(loosened(withImage(one), withImage(one, 'container'), 'bubblewrap')).toEqual(field);
    expect(loosened(withImage(one, 'container'), withImage(two, 'container'), 'bubblewrap')).toEqual(field);
  });
});

it('a variable of the daemon in a command needs a person also in a sandbox', () => {
  const text = (run: string): GateFields => fieldsOf(`[agents.a]\nrun = ${JSON.stringify(run)}\n`);
  expect(hasLoosening(compareRules(text('./x'), text('./x ${env.TOKEN}')))).toBe(true);
  expect(hasLoosening(compareRules(fieldsOf(''), text('./x ${env.TOKEN}'), 'first'))).toBe(true);
  expect(hasLoosening(compareRules(text('./x ${env.TOKEN}'), text('./y ${env.TOKEN}')))).toBe(false);
  expect(hasLoosening(compareRules(text('./x'), text('./y ${task.id}')))).toBe(false);
});

describe('the first runbook, compared with the defaults', () => {
  const asked = (text: string): readonly string[] =>
    compareRules(fieldsOf('', {}), fieldsOf(text, PROMPTS), 'first').flatMap((each) =>
      each.effect === 'loosens' ? [describeLoosening(each) ?? each.field] : [],
    );

  it('may name agents, workers, checks, limits and a stronger sandbox without a question', () => {
    expect(asked(BASE.replace('review_rounds = 3', 'review_rounds = 2'))).toEqual([]);
    expect(asked('sandbox = "bubblewrap"\nnetwork = "model"\n')).toEqual([]);
    expect(asked('[agents.reviewer]\nrun = "codex"\nprompt = "Be strict."\n')).toEqual([]);
  });

  it.each<[string, string]>([
    ['sandbox = "none"', 'agents and commands run without a sandbox'],
    ['sandbox = { read = ["~/.aws"] }', 'agents and commands may read ~/.aws'],
    ['sandbox = { write = ["~/.ssh"] }', 'agents and commands may write ~/.ssh'],
    ['[agents.x]\nrun = "claude"\nprompt = "x"\nsandbox = "none"', 'agent x run without a sandbox'],
    ['network = "full"', 'agents and commands reach every host'],
    ['network = { checks = "dev" }', "checks reach their client's API, public registries and the git remotes"],
    ['network = { hosts = ["npm.example.com"] }', 'agents and commands may reach the hosts npm.example.com'],
    ['network = { checks = "full" }', 'checks reach every host'],
    ['network = { local = [5432] }', 'agents and commands may reach at 127.0.0.1 the ports 5432'],
    ['env_pass = ["AWS_*"]', 'agents and commands may get the variables AWS_*'],
    ['[notify]\nwebhook = "https://x.org"', 'notifications are sent to https://x.org'],
    ['[pipelines.x]\nsteps = [{ name = "a", run = "make" }]', 'shell commands run without a sandbox: ["make"]'],
    ['[limits]\nreview_rounds = 9', 'limits.review_rounds'],
    ['[limits]\ntasks = { number = 1000 }', 'limits.tasks.number'],
    ['[roles.reviewer]\nsame_agent = true', 'an agent may approve its own work'],
    ['[agents.validator]\nrun = "true"\nrequires = ["handoff", "exit"]', 'agents.validator.run'],
    ['[[ci.required]]\nname = "test"\nrun = "make"\nnetwork = "full"', 'the check test reaches every host'],
    ['[[ci.required]]\nname = "test"\nrun = "make"\nenv_pass = ["KEY"]', 'the check test gets variables of the daemon: ["KEY"]'],
    ['[secrets]\nOPENAI_API_KEY = { env = "K", inject = "header" }', 'agents use the key OPENAI_API_KEY of the daemon'],
  ])('%s is shown in words', (text, words) => {
    expect(asked(text)).toContain(words);
  }); // prettier-ignore
});

describe('changes without a difference', () => {
  it.each<[string, string, string]>([
    ['a comment', '[ci]', '# Checks.\n[ci]'],
    ['the default, written down', 'review_rounds = 3', 'review_rounds = 3\nagents = 50'],
    ['the order of what an agent owes', '["result", "handoff", "exit"]', '["exit", "result", "handoff"]'],
  ])('%s', (_, from, to) => {
    expect(compare(edited(from, to))).toEqual([]);
  });

  it('is the file that contains a field', () => {
    const [ci = '', rest = ''] = BASE.split('[merge]');
    const split = fieldsOf(ci, PROMPTS, [{ path: '.baton/runbooks/rest.toml', text: `[merge]${rest}` }]);
    expect(compareRules(fieldsOf(BASE), split)).toEqual([]);
  });
});

it('keeps a check whose name has a dot apart from the timeout of another', () => {
  const text = edited('{ name = "lint", run = "npm run lint" }', '{ name = "test.timeout", run = "a" }');
  const fields = fieldsOf(text);
  expect(fields.get('ci.required.test.timeout')).toBe(600_000);
  expect(fields.get('ci.required."test.timeout"')).toEqual({ run: 'a' });
});
